import { on } from '@tandem/bus-kit'
import { MeetingAlarmMailed, MeetingMailFailed, PersonHidden, TrustedContactEnded } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { disarmWithoutContact, endMeetingsOfHidden } from './endings.ts'
import { markContactNotTold, markContactTold } from './outcomes.ts'

export const onTrustedContactEnded = (deps: Deps) =>
  on(TrustedContactEnded, async ({ data: { accountId } }) => await disarmWithoutContact(deps, accountId))
export const onMeetingAlarmMailed = ({ db }: Deps) =>
  on(MeetingAlarmMailed, async ({ data: { meetingId, mailedAt } }) => await markContactTold(db, meetingId, mailedAt))
export const onMeetingMailFailed = ({ db }: Deps) =>
  on(MeetingMailFailed, async ({ data }) => await markContactNotTold(db, data))
export const onPersonHidden = ({ db }: Deps) =>
  on(PersonHidden, async ({ data: { accountId, hidden } }) => {
    if (hidden) await endMeetingsOfHidden(db, accountId)
  })
