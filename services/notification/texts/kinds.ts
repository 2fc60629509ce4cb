import { english } from './english.ts'

export type Kind = keyof typeof english

/** The texts of all notifications in one language, as ICU messages. */
export type Texts = Record<Kind, { title: string, body: string }>

/** The category of a kind. */
export const typeOf = (kind: Kind) => english[kind].type

/**
 * Actions of FitMatch profiles: their notifications show the profile's display name and never the account's name or
 * picture.
 */
const DISPLAY_NAME_KINDS: Kind[] = [
  'messageReceived',
  'likeReceived',
  'matchMade',
  'activityInvited',
  'activityAsked',
  'activityConfirmed',
  'activityChanged'
]
export const usesDisplayName = (kind: Kind) => DISPLAY_NAME_KINDS.includes(kind)

/** Kinds that a person asked for themselves: muting their category does not mute them. */
const ALWAYS_PUSHED_KINDS: Kind[] = [
  'pushTest',
  'meetingAsked',
  'meetingOverdue',
  'meetingAlarmFailed',
  'meetingNotShared',
  'meetingDisarmed'
]
export const isAlwaysPushed = (kind: Kind) => ALWAYS_PUSHED_KINDS.includes(kind)

/** Kinds whose texts the company writes: they can have links. */
const COMPANY_KINDS: Kind[] = ['broadcast', 'bookingTold', 'announcement']
export const isWrittenByCompany = (kind: Kind) => COMPANY_KINDS.includes(kind)
