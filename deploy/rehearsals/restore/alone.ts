import { isDeepStrictEqual } from 'node:util'
import type { Stack } from '../kit/stack.ts'
import { check } from '../kit/checks.ts'
import type { Friends } from './friends.ts'
import type { ErasedPerson } from './erased-people.ts'

/** What must be the same before and after one service is restored. */
export interface Before {
  notifications: string[]
  xp: number
  /** Of somebody who did nothing since the backup. */
  rows: Record<string, string>
}

/** Verifies that a service that was restored alone lost nothing of others, and did nothing twice. */
export async function verifyOthers (
  service: string,
  { friends, erased, before }: { friends: Friends, erased: ErasedPerson[], before: Before }
) {
  const rows = await friends.readRows(service, erased.map(({ id }) => id))
  const names = Object.keys(before.rows)
  check(
    names.length > 0 && isDeepStrictEqual(rows, before.rows),
    `${service}: the rows of others are there (in ${names.map((name) => name.split('.')[1]).join(', ')})`
  )
  const notifications = await friends.readNotifications()
  check(
    isDeepStrictEqual(notifications, before.notifications),
    `${service}: no notification is doubled (${notifications.length} of ${before.notifications.length})`
  )
  const xp = await friends.readXp()
  check(xp === before.xp, `${service}: no points are counted twice (${xp} XP of ${before.xp})`)
}

/** What happens again after the restore of a service, as it did after the backup. */
export async function repeatWhatWasLost (service: string, friends: Friends, stack: Stack) {
  // The restored activity is not over yet. Its end is published once more, as another event.
  if (service === 'fitmatch') await friends.finishActivity()
  // The phone sends what it logged after the backup.
  if (service === 'dashboard') await friends.logWorkout(stack)
}
