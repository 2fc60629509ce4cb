import { isFeatureOn } from '@tandem/brand-kit'
import { on } from '@tandem/bus-kit'
import { MeetingCleared, MeetingEnded, MeetingOverdue, MeetingShared, MeetingSilenced } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { mailCleared, mailEnded, mailOverdue, mailShared, mailSilenced, type Meeting } from './actions.ts'

/** Nobody is mailed about an activity while this installation has none. */
const ifOffered =
  (deps: Deps, mail: (deps: Deps, meeting: Meeting) => Promise<void>) => async ({ data }: { data: Meeting }) => {
    if (isFeatureOn('activities')) await mail(deps, data)
  }

export const onMeetingShared = (deps: Deps) => on(MeetingShared, ifOffered(deps, mailShared))
export const onMeetingOverdue = (deps: Deps) => on(MeetingOverdue, ifOffered(deps, mailOverdue))
export const onMeetingCleared = (deps: Deps) => on(MeetingCleared, ifOffered(deps, mailCleared))
export const onMeetingEnded = (deps: Deps) => on(MeetingEnded, ifOffered(deps, mailEnded))
export const onMeetingSilenced = (deps: Deps) => on(MeetingSilenced, ifOffered(deps, mailSilenced))
