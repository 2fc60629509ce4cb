import type { Log } from '@tandem/service-kit'
import { registry } from '@tandem/service-kit'
import { Redis } from 'ioredis'
import { Gauge } from 'prom-client'
import { createMemoryCounter } from './memory-counter.ts'
import type { Hits } from './memory-counter.ts'

/** Counts hits of a client for all gateways together. */
export interface HitCounter {
  /** One more hit in a window of so many milliseconds. It takes 100 ms at most, and never fails. */
  count (key: string, window: number): Promise<Hits>
  /** Whether hits are counted in Redis right now. */
  isShared (): boolean
  close (): void
}

// What this process knows is carried in, so that a count survives a Redis that was emptied, or was away for a while.
const script = `
  local count = tonumber(redis.call('get', KEYS[1]) or '0')
  local ttl = redis.call('pttl', KEYS[1])
  if ttl <= 0 then
    count = 0
    ttl = tonumber(ARGV[2])
  end
  count = math.max(count, tonumber(ARGV[1])) + 1
  redis.call('set', KEYS[1], count, 'px', ttl)
  return { count, ttl }
`

const timeoutMs = 100
const betweenTries = 500

interface Counting { countHit (key: string, known: number, ttl: number): Promise<[count: number, ttl: number]> }

const local = new Gauge({ name: 'gateway_limits_local', help: 'Whether attempts are counted in this process alone, as Redis is away', registers: [registry] })

/** Counts in Redis, and in memory while Redis is away or slow: by the same numbers, and beginning with what Redis last said. */
export function createHitCounter (url: string, log: Log): HitCounter {
  const memory = createMemoryCounter()
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1_000,
    commandTimeout: timeoutMs,
    retryStrategy: (tries) => Math.min(tries * 50, betweenTries),
    connectionName: 'gateway'
  })
  redis.defineCommand('countHit', { numberOfKeys: 1, lua: script })
  const counting = redis as unknown as Counting
  let shared = false

  function change (to: boolean, error?: unknown) {
    if (to === shared) return
    shared = to
    local.set(to ? 0 : 1)
    if (to) log.info('attempts are counted in redis')
    else log.warn({ err: error }, 'redis does not answer: attempts are counted in this process alone')
  }

  // Once it was too slow it is asked aside from any request, until it answers in time.
  const probe = setInterval(() => {
    if (!shared && redis.status === 'ready') redis.ping().then(() => change(true), () => {})
  }, betweenTries).unref()
  redis.on('ready', () => change(true))
  redis.on('close', () => change(false, new Error('the connection is closed')))
  redis.on('error', () => {})

  return {
    async count (key, window) {
      if (!shared) return memory.count(key, window)
      const known = memory.recall(key)
      try {
        const [current, ttl] = await counting.countHit(`limit:${key}`, known?.current ?? 0, Math.ceil(known?.ttl ?? window))
        memory.learn(key, { current, ttl })
        return { current, ttl }
      } catch (error) {
        change(false, error)
        return memory.count(key, window)
      }
    },
    isShared: () => shared,
    close () {
      clearInterval(probe)
      redis.disconnect()
    }
  }
}
