import { setTimeout as sleep } from 'node:timers/promises'
import { meet, settle } from '../kit/settled-people.ts'
import { call } from '../kit/call.ts'
import type { Stack } from '../kit/stack.ts'
import { readTraces } from '../kit/traces.ts'
import type { Database } from './postgres.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

// They change by themselves, expire, or change with the inbox of somebody else.
const volatile = new Set(['outbox', 'processed_events', 'idempotency_keys', 'inboxes', 'activity', 'sessions'])

export type Friends = Awaited<ReturnType<typeof prepareFriends>>

/** Gina trains and earns points, also after the backups; Hank does nothing any more. Both stay. */
export async function prepareFriends (stack: Stack, database: Database) {
  const [gina, hank] = [await settle(stack, 'gina_stays'), await settle(stack, 'hank_stays')]
  await meet(hank, gina)
  const activityId = await checkInAlone(stack, gina.token)
  const before = new Date(Date.now() - 2 * DAY_MS).toISOString()

  const readXp = async () =>
    await database.withClient(async (client) => {
      const { rows } = await client.query<{ xp: number }>('select xp from dashboard.totals where account_id = $1', [
        gina.id
      ])
      return rows[0]?.xp ?? 0
    })
  return {
    hank,
    readXp,
    /** Logs a workout, or sends it once more, as a phone does that got no response. */
    async logWorkout (stack: Stack) {
      const item = { clientId: 'late', type: 'WORKOUT', at: before, data: { title: 'Late', durationMinutes: 20 } }
      await call(stack, 'POST', '/logs/batch', { token: gina.token, body: { items: [item] } })
    },
    /** Lets the activity that Gina has checked in to be over at once: it becomes a workout with points. */
    async finishActivity () {
      await database.withClient(async (client) => {
        await client.query(
          `update fitmatch.activities set starts_at = starts_at - interval '2 hours', ends_at = ends_at - interval '2 hours'
           where id = $1 and status = 'PLANNED'`,
          [activityId]
        )
        await client.query('update fitmatch.activity_timers set due_at = now() where activity_id = $1', [activityId])
        // The timers run every few seconds.
        for (;; await sleep(200)) {
          const { rowCount } = await client.query(
            `select from fitmatch.activity_participants where activity_id = $1 and attended_at is not null`,
            [activityId]
          )
          if (rowCount === 1) return
        }
      })
    },
    /** A digest of Hank's rows by table, without those that name somebody else. */
    async readRows (service: string, without: string[]) {
      const found = await database.withClient(async (client) =>
        await readTraces(client, { traces: [hank.id], without: [...without, gina.id] })
      )
      return Object.fromEntries(
        [...found].flatMap(([table, { digest }]) => {
          const [schema, name = ''] = table.split('.')
          return schema === service && !volatile.has(name) ? [[table, digest]] : []
        })
      )
    },
    /** The ids of all notifications in the inboxes of the two. */
    readNotifications: async () =>
      await database.withClient(async (client) => {
        const { rows } = await client.query<{ id: string }>(
          `select id::text from notification.notifications where account_id = any($1) and removed_at is null order by 1`,
          [[gina.id, hank.id]]
        )
        return rows.map(({ id }) => id)
      })
  }
}

/** Plans an activity that starts soon, and checks in to it. @returns its id */
async function checkInAlone (stack: Stack, token: string) {
  const start = Temporal.Now.zonedDateTimeISO('Etc/UTC').add({ minutes: 20 })
  const time = (minutes: number) => start.add({ minutes }).toPlainTime().toString({ smallestUnit: 'minute' })
  const { data: { activity: { id } } } = await call<{ data: { activity: { id: string } } }>(
    stack,
    'POST',
    '/activities',
    {
      token,
      body: {
        sport: 'running',
        date: start.toPlainDate().toString(),
        startTime: time(0),
        endTime: time(15),
        timezone: 'Etc/UTC',
        locationName: 'Gate 5'
      }
    }
  )
  await call(stack, 'POST', `/activities/${id}/check-in`, { token })
  return id
}
