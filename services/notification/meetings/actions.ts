import { textsOf } from '@tandem/brand-kit'
import { publish } from '@tandem/bus-kit'
import { MeetingDetails, MeetingStatus, TrustedContactEnded } from '@tandem/contracts'
import { createMail, plainName, plainText, renderMail } from '@tandem/mail-kit'
import type { Deps } from '../deps.ts'
import { formatMeetingTime } from './meeting-time.ts'
import { findContactStatus, isStillEligible } from '../trusted-contact/eligibility.ts'
import { hasRefused } from '../trusted-contact/limits.ts'
import { shareConfirmedContact, type ConfirmedContact } from '../trusted-contact/queries.ts'
import { createContactLink } from '../trusted-contact/tokens.ts'
import type { Trx } from '../tables.ts'
import { publishFailed } from './outcomes.ts'

export interface Meeting {
  meetingId: string
  activityId: string
  accountId: string
  /** Of the activity, if the contact was mailed an earlier one. */
  version?: number
}

/**
 * Mails the contact that a person is going to meet others: who, where and when, unless the meeting has ended by now.
 * Without a contact, the meeting ends. Each version of the activity is mailed once.
 */
export async function mailShared (deps: Deps, meeting: Meeting) {
  const { activityId, accountId } = meeting
  const known = await deps.callRpc(MeetingStatus, { accountId, activityId })
  if (known === 'SAFE' || known === 'NONE') return
  const details = await readDetails(deps, meeting)
  const status = await findContactStatus(deps, accountId)
  const mailId = await deps.db.transaction().execute(async (trx) => {
    const contact = await shareContact(trx, accountId, status)
    // They ended it while the meeting was being armed, so fitmatch found no meeting to disarm.
    if (!contact) {
      await publish(trx, TrustedContactEnded, accountId, { accountId })
      return
    }
    return await mailContact(trx, deps, { ...meeting, contact }, 'meetingShared', details)
  })
  await deps.mailer.enqueue([mailId])
}

/**
 * Mails the contact that the person has not reported back, unless they have by now. The contact is looked up now: they
 * may have ended it since the alarm was due.
 */
export async function mailOverdue (deps: Deps, meeting: Meeting) {
  const details = await readDetails(deps, meeting)
  const { meetingId, activityId, accountId } = meeting
  // The event of that can still be on its way. A later meeting at the activity is armed only after this one is over.
  if (await deps.callRpc(MeetingStatus, { accountId, activityId }) === 'SAFE') return
  const status = await findContactStatus(deps, accountId)
  const mailId = await deps.db.transaction().execute(async (trx) => {
    const { is_overdue, is_cleared } = await lockMeetingMails(trx, meetingId)
    if (is_overdue || is_cleared) return
    const contact = await shareContact(trx, accountId, status)
    if (!contact) {
      await publishFailed(trx, { meetingId, accountId, isAlarm: true })
      return
    }
    await trx.updateTable('meeting_mails').set({ is_overdue: true }).where('meeting_id', '=', meetingId).execute()
    return await mailContact(trx, deps, { ...meeting, contact }, 'meetingOverdue', details)
  })
  await deps.mailer.enqueue([mailId])
}

/** Mails the contact that the person has reported back, if an alarm was mailed. A later alarm mails nothing. */
export const mailCleared = async (deps: Deps, meeting: Meeting) => await mailAfterAlarm(deps, meeting, 'meetingCleared')

/** Mails the contact that no all-clear can come for now, because the person can no longer report back. */
export const mailSilenced = async (deps: Deps, meeting: Meeting) =>
  await mailAfterAlarm(deps, meeting, 'meetingSilenced')

/** Mails the contact who got the alarm, also if another one was chosen since. */
async function mailAfterAlarm (deps: Deps, meeting: Meeting, kind: 'meetingCleared' | 'meetingSilenced') {
  const { meetingId, accountId } = meeting
  const alarm = await findAlarm(deps, meetingId)
  const status = await findContactStatus(deps, accountId)
  const canTellFormer = alarm?.isSent && await isStillEligible(deps, accountId, alarm.recipient)
  const mailId = await deps.db.transaction().execute(async (trx) => {
    const { is_overdue, is_cleared } = await lockMeetingMails(trx, meetingId)
    if (is_cleared) return
    if (kind === 'meetingCleared') {
      await trx.updateTable('meeting_mails').set({ is_cleared: true }).where('meeting_id', '=', meetingId).execute()
      if (!is_overdue) return
    }
    const current = await shareContact(trx, accountId, status)
    const isSame = !alarm || alarm.recipient === current?.email
    const contact = isSame ? current : canTellFormer && await findFormer(trx, accountId, alarm.recipient)
    return contact ? await mailContact(trx, deps, { ...meeting, contact }, kind) : undefined
  })
  await deps.mailer.enqueue([mailId])
}

/** The recipient of the alarm, and whether they may have got it. */
async function findAlarm ({ db }: Deps, meetingId: string) {
  return await db.selectFrom('mails').where('dedupe_key', '=', `${dedupePrefixes.meetingOverdue}:${meetingId}`)
    .select(['recipient', (mail) => mail('status', 'in', ['sending', 'sent']).as('isSent')]).executeTakeFirst()
}

/** Somebody who was the contact and did not end it themselves. In the language of the account, as theirs is deleted. */
async function findFormer (trx: Trx, accountId: string, email: string) {
  if (await hasRefused(trx, accountId, email)) return
  const owner = await trx.selectFrom('people').where('account_id', '=', accountId).select('locale').executeTakeFirst()
  return { id: null, email, locale: owner?.locale ?? '' }
}

/**
 * Mails the contact that the person can no longer report back, and that no mail about this meeting follows. An alarm would
 * be false, and silence would look as if they had reported back.
 */
export async function mailEnded (deps: Deps, meeting: Meeting) {
  const status = await findContactStatus(deps, meeting.accountId)
  const mailId = await deps.db.transaction().execute(async (trx) => {
    const contact = await shareContact(trx, meeting.accountId, status)
    if (!contact) return
    return await mailContact(trx, deps, { ...meeting, contact }, 'meetingEnded')
  })
  await deps.mailer.enqueue([mailId])
}

/** The contact who has agreed; they stay the contact until the commit. `status` was read before, outside of it. */
async function shareContact (trx: Trx, accountId: string, status: string) {
  return status === 'CONFIRMED' ? await shareConfirmedContact(trx, accountId) : undefined
}

/** An alarm and its end can arrive at once and in any order: the lock makes one of them the first. */
async function lockMeetingMails (trx: Trx, meetingId: string) {
  await trx.insertInto('meeting_mails').values({ meeting_id: meetingId }).onConflict((conflict) => conflict.doNothing())
    .execute()
  return await trx.selectFrom('meeting_mails').where('meeting_id', '=', meetingId).select(['is_overdue', 'is_cleared'])
    .forUpdate().executeTakeFirstOrThrow()
}

/** Asks fitmatch now, so that no event carries a place. Null if the activity is gone: the mail is sent without it. */
async function readDetails ({ callRpc }: Deps, { meetingId }: Meeting) {
  const details = await callRpc(MeetingDetails, { meetingId })
  if (!details) return null
  const { locationName, branch, city, companions, latitude, longitude, ...times } = details
  // The host wrote the name of the place, and everybody their own name.
  const place = [locationName, branch, city].filter((part) => part !== null).map(plainText).join(', ')
  return {
    ...times,
    place: latitude === null || longitude === null ? place : `${place} (${latitude}, ${longitude})`,
    companions: companions.map(plainName)
  }
}

const dedupePrefixes = {
  meetingShared: 'meeting-shared',
  meetingOverdue: 'meeting-overdue',
  meetingCleared: 'meeting-cleared',
  meetingSilenced: 'meeting-silenced',
  meetingEnded: 'meeting-ended'
} as const

/** Writes a mail to the contact, who stays one until the commit. Returns its id, unless it was written before. */
async function mailContact (
  trx: Trx,
  { publicUrl }: Deps,
  { meetingId, accountId, version, contact }: Meeting & {
    contact: Omit<ConfirmedContact, 'id'> & { id: string | null }
  },
  kind: keyof typeof dedupePrefixes,
  details: Awaited<ReturnType<typeof readDetails>> = null
) {
  const owner = await trx.selectFrom('people').where('account_id', '=', accountId).select('name').executeTakeFirst()
  return await createMail(trx, {
    dedupeKey: [dedupePrefixes[kind], meetingId, ...version === undefined ? [] : [version]].join(':'),
    recipient: contact.email,
    accountId,
    // Bounded by the activities of a day. A limit would suppress an alarm.
    rateLimited: false,
    // An alarm that waits for a mail server must not arrive after the all-clear. That none can come replaces no alarm.
    ...kind !== 'meetingShared' && kind !== 'meetingSilenced' && { collapseKey: `meeting:${meetingId}` },
    ...renderMail({
      kind,
      locale: contact.locale,
      params: { name: plainName(owner?.name ?? ''), ...describe(contact.locale, details) },
      url: await createContactLink(trx, publicUrl, contact.id)
    })
  })
}

function describe (locale: string, details: Awaited<ReturnType<typeof readDetails>>) {
  if (!details) return { hasDetails: false }
  const { place, companions, ...times } = details
  return {
    hasDetails: true,
    place,
    hasPlace: place !== '',
    when: formatMeetingTime(textsOf(locale).locale, times),
    companions: companions.join(', '),
    hasCompanions: companions.length > 0
  }
}
