import { handleRpc } from '@tandem/bus-kit'
import { ArmedMeetings, MeetingDetails, MeetingStatus } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { findMeetingDetails, findOwnMeeting, listArmed } from './queries.ts'

export const handleMeetingDetails = ({ db }: Deps) =>
  handleRpc(MeetingDetails, async ({ meetingId }) => await findMeetingDetails(db, meetingId) ?? null)

export const handleArmedMeetings = ({ db }: Deps) =>
  handleRpc(ArmedMeetings, async ({ accountId }) => (await listArmed(db, accountId)).length)

export const handleMeetingStatus = ({ db }: Deps) =>
  handleRpc(
    MeetingStatus,
    async ({ accountId, activityId }) => (await findOwnMeeting(db, accountId, activityId))?.status ?? 'NONE'
  )
