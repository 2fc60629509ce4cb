import { handleRpc } from '@tandem/bus-kit'
import { ArmedMeetings, MeetingDetails } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { findMeetingDetails, listArmed } from './queries.ts'

export const handleMeetingDetails = ({ db }: Deps) =>
  handleRpc(MeetingDetails, async ({ meetingId }) => await findMeetingDetails(db, meetingId) ?? null)

export const handleArmedMeetings = ({ db }: Deps) =>
  handleRpc(ArmedMeetings, async ({ accountId }) => (await listArmed(db, accountId)).length)
