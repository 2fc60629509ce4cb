import { readTimezone } from '@tandem/account-kit'
import { on } from '@tandem/bus-kit'
import { ActivityAttended } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { logReportedWorkout } from './actions.ts'

const MINUTE_MS = 60_000

/** Logs the workout of an activity that a person checked in to, with its planned length. */
export const onActivityAttended = ({ db }: Pick<Deps, 'db'>) =>
  on(ActivityAttended, async ({ id: eventId, data }) => {
    const { accountId, activityId, title } = data
    const [at, endsAt] = [new Date(data.startsAt), new Date(data.endsAt)]
    await logReportedWorkout(db, {
      accountId,
      zone: readTimezone(data.timezone),
      eventId,
      activityId,
      item: {
        // The name under which a phone logs its own recording of the workout, which then replaces this one.
        key: `activity:${activityId}`,
        clientId: `activity:${activityId}`,
        type: 'WORKOUT',
        at,
        endsAt,
        data: { title, durationMinutes: Math.round((endsAt.getTime() - at.getTime()) / MINUTE_MS) }
      }
    })
  })
