import { handleRpc } from '@tandem/bus-kit'
import { MeetingDetails } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { findMeetingDetails } from './queries.ts'

export const handleMeetingDetails = ({ db }: Deps) =>
  handleRpc(MeetingDetails, async ({ meetingId }) => await findMeetingDetails(db, meetingId) ?? null)
