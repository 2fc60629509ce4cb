import { setTimeout as sleep } from 'node:timers/promises'
import { SpanKind } from '@opentelemetry/api'
import { AckPolicy, DeliverPolicy, nanos, type Consumer, type ConsumerMessages, type JsMsg, type NatsConnection } from 'nats'
import type { Kysely } from 'kysely'
import pLimit from 'p-limit'
import type { Bus } from './connection.ts'
import { ATTEMPTS, markFailed, remove, insertFailed, claimDue, type FailedMessageTables, type DueMessage, type FailedMessage } from './failed-messages.ts'
import { parseEnvelope } from './envelope.ts'
import { Malformed, type Handler } from './handlers.ts'
import { serializeByKey } from './serialize-by-key.ts'
import { handled, handling, lag, failedMessageSources } from './metrics.ts'
import { Unavailable } from './rpc.ts'
import { throttleLog } from './throttle-log.ts'
import { isMissing, isStreamMissing } from './streams.ts'
import { streamOf, subjectOf } from './subjects.ts'
import { continueTrace, traceIdOf } from './tracing.ts'

// One less than the connections of a service's pool, so that a crowd of events leaves one to its clients.
const AT_ONCE = 4
// A quarter of what the broker hands out at all, so that replicas share a crowd.
const HELD = 64
const UNACKNOWLEDGED = 256
const ACK_WAIT = 10_000
const STILL_WORKING_EVERY = 3_000
const FETCH_FOR = 2_000
const HANDLE_WITHIN = 30_000
const TROUBLE_PAUSE = 500
const BACK_AFTER_TROUBLE = 2_000
const LOOK_FOR_DUE_EVERY = 1_000
// A message that comes so often was never answered: perhaps whoever handles it dies of it.
const DELIVERIES = 5

export interface Consumers { stop (): Promise<void> }

/** A message that was read: what it is about, and what handles it. */
interface Opened { subject: string, joins: boolean, handle: () => Promise<void> }

/**
 * Hears every event that `handlers` name, through one durable consumer for each service that says some of them.
 * Replicas share the durable, so each message goes to one of them. `stop()` hands back what is not begun and waits for the rest.
 */
export function startConsumers (bus: Bus, db: Kysely<FailedMessageTables>, handlers: Handler[]): Consumers {
  const stopping = new AbortController()
  const wanted = Map.groupBy(handlers, ({ event }) => event.type)
  const speakers = new Set(handlers.map(({ event }) => event.service))
  const enter = serializeByKey()
  const [few, many] = [pLimit(AT_ONCE), pLimit(HELD)]
  const source = { service: bus.service, db }
  failedMessageSources.add(source)

  const loops = [...speakers].map((speaker) => hearFrom(speaker))
  loops.push(tryAgain())

  async function hearFrom (speaker: string) {
    const say = throttleLog((error) => {
      if (isStreamMissing(error)) bus.log.info({}, `${speaker} has said nothing yet; waiting for its stream`)
      else bus.log.warn({ err: error }, `cannot hear ${speaker} just now; trying on`)
    })
    while (!stopping.signal.aborted) {
      const connection = bus.current()
      try {
        if (connection) await pull(connection, await ensureConsumer(connection, bus.service, speaker), speaker)
      } catch (error) {
        // Whatever became of the stream or the connection, the next round makes anew what is missing.
        say(error)
      }
      await sleep(TROUBLE_PAUSE, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  /** Hears until the connection breaks, the consumer is gone, or `stop()`. */
  async function pull (connection: NatsConnection, consumer: Consumer, speaker: string) {
    const held = new Map<JsMsg, Promise<void>>()
    let fetched: ConsumerMessages | undefined
    let broken = false
    // An acknowledgement names a place in the consumer. After a reconnect the consumer may be a new one with another message there.
    const stands = () => !broken && bus.current() === connection
    const stop = () => fetched?.stop()
    let calls = 0
    const forgetBus = bus.onConnect(() => {
      // The first call tells of the connection that stands already.
      if (calls++ > 0) {
        broken = true
        stop()
      }
    })
    stopping.signal.addEventListener('abort', stop)
    // Those that wait for a lane are still ours too, or the broker would hand them to another replica.
    const beat = setInterval(() => {
      if (stands()) for (const message of held.keys()) message.working()
    }, STILL_WORKING_EVERY)

    try {
      while (!stopping.signal.aborted && stands()) {
        while (held.size > HELD / 2) await Promise.race(held.values())
        fetched = await consumer.fetch({ max_messages: HELD - held.size, expires: FETCH_FOR })
        if (stopping.signal.aborted || !stands()) stop()
        for await (const message of fetched) {
          lag.set({ service: bus.service, from: speaker }, message.info.pending)
          if (!wanted.has(typeOf(message))) {
            if (stands()) message.ack()
            continue
          }
          const letter = letterOf(message, speaker)
          const opened = open(letter)
          held.set(message, enter(opened.subject, opened.joins ? many : few, async () => await deliver(message, letter, opened, stands)).finally(() => held.delete(message)))
        }
      }
    } finally {
      clearInterval(beat)
      forgetBus()
      stopping.signal.removeEventListener('abort', stop)
      await Promise.allSettled(held.values())
    }
  }

  async function deliver (message: JsMsg, letter: FailedMessage, opened: Opened, stands: () => boolean) {
    if (!stands()) return
    // Not before the broker has forgotten what was fetched last: 2.9 would offer it to that, and mislay it for 10 s.
    if (stopping.signal.aborted) return message.nak(FETCH_FOR)
    try {
      if (message.info.deliveryCount > DELIVERIES) await insertFailed(db, letter, { error: 'was never answered', attempts: 0, permanent: false })
      else await attempt(letter, opened, async (failure) => await insertFailed(db, letter, { ...failure, attempts: failure.transient ? 0 : 1 }) && failure.permanent)
      if (stands()) message.ack()
    } catch {
      // Postgres is away: the message is better kept by the broker.
      if (stands()) message.nak(BACK_AFTER_TROUBLE)
    }
  }

  /** Tries those again that failed before, of whichever replica. */
  async function tryAgain () {
    while (!stopping.signal.aborted) {
      const due = await claimDue(db, AT_ONCE).catch(() => [])
      await Promise.all(due.map(async (letter) => {
        const opened = open(letter)
        await enter(opened.subject, few, async () => await tryLetter(letter, opened).catch(() => {}))
      }))
      if (due.length === 0) await sleep(LOOK_FOR_DUE_EVERY, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  async function tryLetter (letter: DueMessage, opened: Opened) {
    if (letter.attempts > ATTEMPTS && !letter.parked_at) {
      await markFailed(db, letter, { error: 'whoever tried it never came back', transient: true, permanent: true })
      return bus.log.error({ type: letter.type, key: letter.key }, 'parked a message that nobody came back from')
    }
    const done = await attempt(letter, opened, async (failure) => await markFailed(db, letter, failure))
    if (done) await remove(db, letter.key)
  }

  /** @param onFailure returns whether the message is parked now */
  async function attempt (
    { type, key, traceparent }: FailedMessage, { handle }: Opened,
    onFailure: (failure: { error: unknown, transient: boolean, permanent: boolean }) => Promise<boolean>
  ) {
    const took = handling.startTimer({ type })
    const subject = { type, eventId: key, traceId: traceIdOf(traceparent) }
    try {
      await continueTrace(traceparent ?? undefined, `hear ${type}`, SpanKind.CONSUMER, async () => await within(HANDLE_WITHIN, handle()))
      bus.log.info(subject, 'handled an event')
      handled.inc({ type, outcome: 'done' })
      return true
    } catch (error) {
      const permanent = error instanceof Malformed
      handled.inc({ type, outcome: permanent ? 'malformed' : 'failed' })
      // What is merely away will come back, so waiting for it counts as no attempt.
      const parked = await onFailure({ error, transient: error instanceof Unavailable, permanent })
      if (parked) bus.log.error({ err: error, ...subject }, 'parked a message that cannot be handled')
      else bus.log.warn({ err: error, ...subject }, 'could not handle a message; trying again later')
      return false
    } finally {
      took()
    }
  }

  function open ({ key, type, message }: FailedMessage): Opened {
    try {
      const envelope = parseEnvelope(message)
      if (envelope.type !== type) throw new Error(`it came as ${type}`)
      const handlers = wanted.get(type) ?? []
      return {
        subject: envelope.subject,
        joins: handlers.every((handler) => handler.batched),
        async handle () {
          for (const handler of handlers) await handler.handle(envelope)
        }
      }
    } catch (error) {
      return { subject: key, joins: false, handle: async () => { throw new Malformed(`cannot be read: ${String(error)}`) } }
    }
  }

  return {
    async stop () {
      stopping.abort()
      await Promise.all(loops)
      failedMessageSources.delete(source)
    }
  }
}

/** @throws while the stream is missing: a service may not make one */
async function ensureConsumer (connection: NatsConnection, service: string, speaker: string) {
  const stream = streamOf(speaker)
  const { consumers } = connection.jetstream({ timeout: 2_000 })
  try {
    return await consumers.get(stream, service)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  const manager = await connection.jetstreamManager({ timeout: 2_000, checkAPI: false })
  await manager.consumers.add(stream, {
    durable_name: service,
    // Of the server that tests run on, a consumer can have one filter only: what nobody here hears is acknowledged unread.
    filter_subject: subjectOf(`${speaker}.>`),
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ACK_WAIT),
    max_deliver: -1,
    max_ack_pending: UNACKNOWLEDGED
  })
  return await consumers.get(stream, service)
}

async function within (limit: number, work: Promise<void>) {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`took longer than ${limit / 1_000} s`)), limit)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

const typeOf = (message: JsMsg) => message.subject.replace('evt.', '')

function letterOf (message: JsMsg, speaker: string): FailedMessage {
  const { stream, streamSequence, timestampNanos } = message.info
  return {
    key: message.headers?.get('Nats-Msg-Id') || `${stream}/${streamSequence}/${timestampNanos}`,
    stream: streamOf(speaker),
    type: typeOf(message),
    message: message.string(),
    traceparent: message.headers?.get('traceparent') || null
  }
}
