import type { Log } from '@tandem/process-kit'
import { registry } from '@tandem/process-kit'
import { Redis } from 'ioredis'
import { Gauge } from 'prom-client'
import { createMemoryCounter } from './memory-counter.ts'
import type { Attempts } from './memory-counter.ts'

/** Counts the attempts of a client over all gateways. */
export interface RateCounter {
  /** Counts one attempt in a fixed window. Takes at most 100 ms and never throws. */
  count(key: string, windowMs: number): Promise<Attempts>
  /** Whether attempts are currently counted in Redis. */
  isShared(): boolean
  close(): void
}

// ARGV[1] is the count that this process knows, so that a count survives an emptied or restarted Redis.
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

const TIMEOUT_MS = 100
const RETRY_INTERVAL_MS = 500

interface CounterCommands {
  countAttempt(key: string, known: number, ttl: number): Promise<[count: number, ttl: number]>
}

const localGauge = new Gauge({
  name: 'gateway_limits_local',
  help: 'Whether this process counts attempts by itself because Redis is unavailable',
  registers: [registry]
})

/**
 * Counts in Redis. While Redis is unavailable or slow, counts in memory, from the last known count and with the same
 * limits.
 */
export function createRedisCounter (url: string, log: Log): RateCounter {
  const memory = createMemoryCounter()
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1_000,
    commandTimeout: TIMEOUT_MS,
    retryStrategy: (attempts) => Math.min(attempts * 50, RETRY_INTERVAL_MS),
    connectionName: 'gateway'
  })
  redis.defineCommand('countAttempt', { numberOfKeys: 1, lua: script })
  const counting = redis as unknown as CounterCommands
  let isShared = false
  // Until the first answer: a gateway that starts without Redis counts by itself as well.
  localGauge.set(1)

  function setShared (value: boolean, error?: unknown) {
    if (value === isShared) return
    isShared = value
    localGauge.set(value ? 0 : 1)
    if (value) stopProbing()
    else startProbing()
    if (value) log.info('attempts are counted in Redis')
    else log.warn({ err: error }, 'Redis does not respond: this process counts attempts by itself')
  }

  // After a timeout, Redis is probed outside of any request until it responds in time.
  let probe: NodeJS.Timeout | undefined
  function startProbing () {
    probe = setInterval(() => {
      if (redis.status === 'ready') redis.ping().then(() => setShared(true), () => {})
    }, RETRY_INTERVAL_MS).unref()
  }
  const stopProbing = () => clearInterval(probe)
  startProbing()
  redis.on('ready', () => setShared(true))
  redis.on('close', () => setShared(false, new Error('the connection is closed')))
  redis.on('error', () => {})

  return {
    async count (key, windowMs) {
      // Counted here first, also while others are on their way to Redis: none is lost if Redis stops responding.
      const local = memory.count(key, windowMs)
      if (!isShared) return local
      try {
        const [current, ttl] = await counting.countAttempt(`limit:${key}`, local.current - 1, Math.ceil(local.ttl))
        memory.merge(key, { current, ttl })
        return { current, ttl }
      } catch (error) {
        setShared(false, error)
        return local
      }
    },
    isShared: () => isShared,
    close () {
      stopProbing()
      redis.disconnect()
    }
  }
}
