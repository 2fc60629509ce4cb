import { percentile } from '../kit/percentile.ts'
import type { PublishedEvent } from './load.ts'
import { createId, numberOf } from './people.ts'
import type { World } from './world.ts'

/** Prints the time from each event to its push. @param limitMs check that each push arrives once, within this time */
export function report ({ provider, check }: World, name: string, published: PublishedEvent[], limitMs?: number) {
  const sentAt = new Map<string, number[]>()
  for (const { at, token, message, status } of provider.seen) {
    if (status !== 200) continue
    // The title of a level is known by its number.
    const key = message.data['messageId'] ??
      `${createId('a', numberOf(token))} ${(message.notification?.title ?? '').replaceAll(/\D/g, '')}`
    sentAt.set(key, [...sentAt.get(key) ?? [], at])
  }
  const times = published.map(({ key, at }) => (sentAt.get(key)?.[0] ?? Infinity) - at)
  const missing = times.filter((time) => time === Infinity).length
  const twice = published.filter(({ key }) => (sentAt.get(key)?.length ?? 0) > 1).length
  const [p50, p99, slowest] = [percentile(times, 50), percentile(times, 99), Math.max(...times)]
  console.log(
    `${name}: ${published.length} events; until the push p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ` +
      `at most ${slowest.toFixed(0)} ms; missing ${missing}, twice ${twice}`
  )
  if (limitMs !== undefined) {
    check(slowest <= limitMs && twice === 0, `each push arrives once, within ${limitMs / 1_000} s`)
  }
}
