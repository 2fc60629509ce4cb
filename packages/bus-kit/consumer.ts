import { setTimeout as sleep } from 'node:timers/promises'
import {
  AckPolicy,
  DeliverPolicy,
  nanos,
  type Consumer,
  type ConsumerMessages,
  type JsMsg,
  type NatsConnection
} from 'nats'
import type { Kysely } from 'kysely'
import pLimit from 'p-limit'
import { createAlarm, serializeByKey, throttleLog } from '@tandem/process-kit'
import type { Bus } from './connection.ts'
import {
  claimDue,
  insertFailed,
  markFailed,
  remove,
  type DueMessage,
  type FailedMessage,
  type FailedMessageTables
} from './failed-messages.ts'
import { handleMessage, parseMessage, type ParsedMessage } from './handle-message.ts'
import type { Handler } from './handlers.ts'
import { correlationOf } from './message-headers.ts'
import { hasExhaustedAttempts, isDeliveredTooOften, MAX_RETRY_DELAY_MS, type Failure } from './retry-policy.ts'
import { consumers, failedMessageSources, initializeHandled } from './metrics.ts'
import { isMissing, isStreamMissing, readConsumer } from './streams.ts'
import { streamOf, subjectOf } from './subjects.ts'

// One less than the connections of a service's pool, so that a burst of events leaves one connection to HTTP requests.
const CONCURRENCY = 4
// A quarter of MAX_ACK_PENDING, so that replicas share a burst.
const MAX_HELD = 256
const MAX_ACK_PENDING = 1_024
// What a process held when it was killed is delivered again after this time. A message that is handled for longer is
// extended.
const ACK_WAIT_MS = 5_000
const WORKING_INTERVAL_MS = 1_500
// A message ends the wait of a fetch. A longer one would let a consumer wait longer after a broker that lost the request.
const FETCH_TIMEOUT_MS = 5_000
const RECONNECT_PAUSE_MS = 500
// The publisher of a stream that does not exist may be part of another system that is never started.
const MAX_MISSING_STREAM_PAUSE_MS = 10_000
const NAK_DELAY_MS = 2_000
// nats-server 2.9 can list a stream that it has not finished creating. A consumer that is created then never gets a
// message, until NATS restarts.
const STREAM_CREATION_MS = 200
// While a message that failed in this process may become due, and otherwise: for those of a process that died, and those
// that an operator replays.
const RETRY_POLL_MS = 1_000
const IDLE_RETRY_POLL_MS = 10_000

/**
 * Consumes every event that `handlers` name, through one durable consumer for each service that publishes some of them.
 * Replicas share the durable consumer, so each message goes to one of them. `stop()` hands back messages that are not
 * started and waits for the others.
 */
export function startConsumers (bus: Bus, db: Kysely<FailedMessageTables>, handlers: Handler[]) {
  const stopping = new AbortController()
  const handlersByType = Map.groupBy(handlers, ({ event }) => event.type)
  const publishers = new Set(handlers.map(({ event }) => event.service))
  const serialize = serializeByKey()
  const retries = createAlarm()
  let retriesExpectedUntil = 0
  const [limited, batched] = [pLimit(CONCURRENCY), pLimit(MAX_HELD)]
  const source = { service: bus.service, db }
  failedMessageSources.add(source)
  initializeHandled(handlersByType.keys())
  const measured = [...publishers].map((from) => ({
    service: bus.service,
    from,
    read: async () => await readConsumer(bus.current(), bus.service, from)
  }))
  for (const each of measured) consumers.add(each)

  const loops = [...publishers].map((publisher) => consumeFrom(publisher))
  loops.push(retryFailed())

  async function consumeFrom (publisher: string) {
    const logFailure = throttleLog((error) =>
      bus.log.warn({ err: error }, `cannot consume events of ${publisher}; retrying`)
    )
    const reconnects = createAlarm()
    const stopListening = bus.onConnect(reconnects.ring)
    let hasConsumed = false
    let pauseMs = RECONNECT_PAUSE_MS
    while (!stopping.signal.aborted) {
      const connection = bus.current()
      try {
        if (connection) {
          const consumer = await ensureConsumer(connection, bus.service, publisher)
          hasConsumed = true
          pauseMs = RECONNECT_PAUSE_MS
          await pull(connection, consumer, publisher)
        }
      } catch (error) {
        // Whatever happened to the stream or the connection, the next round creates what is missing.
        if (!isStreamMissing(error) || hasConsumed) logFailure(error)
        else pauseMs = Math.min(2 * pauseMs, MAX_MISSING_STREAM_PAUSE_MS)
      }
      if (await reconnects.wait(pauseMs, stopping.signal)) pauseMs = RECONNECT_PAUSE_MS
    }
    stopListening()
  }

  /** Consumes until the connection breaks, the consumer is gone, or `stop()`. */
  async function pull (connection: NatsConnection, consumer: Consumer, publisher: string) {
    const held = new Map<JsMsg, Promise<void>>()
    let fetched: ConsumerMessages | undefined
    let isBroken = false
    // An acknowledgement names a position in the consumer. After a reconnect the consumer may be a new one with another
    // message there.
    const isCurrent = () => !isBroken && bus.current() === connection
    const stop = () => fetched?.stop()
    let connects = 0
    const stopListening = bus.onConnect(() => {
      // The first call reports the connection that already exists.
      if (connects++ > 0) {
        isBroken = true
        stop()
      }
    })
    stopping.signal.addEventListener('abort', stop)
    // This includes messages that wait for their turn. Otherwise the broker would deliver them to another replica. An
    // idle consumer has no timer, because a service has many consumers.
    let heartbeat: NodeJS.Timeout | undefined
    let onRoom = () => {}
    const extendHeld = () => {
      if (isCurrent()) { for (const message of held.keys()) message.working() }
    }
    const hold = (message: JsMsg, handled: Promise<void>) => {
      heartbeat ??= setInterval(extendHeld, WORKING_INTERVAL_MS)
      held.set(message, handled.finally(() => letGo(message)))
    }
    const letGo = (message: JsMsg) => {
      held.delete(message)
      if (held.size <= MAX_HELD / 2) onRoom()
      if (held.size > 0) return
      clearInterval(heartbeat)
      heartbeat = undefined
    }

    try {
      while (!stopping.signal.aborted && isCurrent()) {
        // Not Promise.race over all of them: each race leaves a reaction on every message that stays.
        if (held.size > MAX_HELD / 2) await new Promise<void>((resolve) => (onRoom = resolve))
        fetched = await consumer.fetch({ max_messages: MAX_HELD - held.size, expires: FETCH_TIMEOUT_MS })
        if (stopping.signal.aborted || !isCurrent()) stop()
        for await (const message of fetched) {
          if (!handlersByType.has(typeOf(message))) {
            if (isCurrent()) message.ack()
            continue
          }
          const record = toFailedMessage(message, publisher)
          const parsed = parseMessage(handlersByType, record)
          const limit = parsed.batched ? batched : limited
          const handled = serialize(
            parsed.subject,
            async () => await limit(async () => await deliver(message, record, parsed, isCurrent))
          )
          hold(message, handled)
        }
      }
    } finally {
      stopListening()
      stopping.signal.removeEventListener('abort', stop)
      await Promise.allSettled(held.values())
    }
  }

  async function deliver (message: JsMsg, record: FailedMessage, parsed: ParsedMessage, isCurrent: () => boolean) {
    if (!isCurrent()) return
    // Not at once: 2.9 could still deliver the message to the fetch that was just given up, and lose it for 5 s.
    if (stopping.signal.aborted) return message.nak(NAK_DELAY_MS)
    try {
      const failure = isDeliveredTooOften(message.info.deliveryCount)
        ? { error: 'delivered several times without an acknowledgement', transient: true, permanent: false }
        : await handleMessage(record, parsed)
      const isDeadLetter = failure ? await insertFailed(db, record, failure) : false
      report(record, failure, isDeadLetter)
      if (isCurrent()) message.ack()
    } catch {
      // Postgres is down, so the broker keeps the message.
      if (isCurrent()) message.nak(NAK_DELAY_MS)
    }
  }

  /** Retries failed messages that are due, whichever replica they failed on. */
  async function retryFailed () {
    while (!stopping.signal.aborted) {
      const due = await claimDue(db, CONCURRENCY).catch(() => [])
      await Promise.all(due.map(async (message) => {
        const parsed = parseMessage(handlersByType, message)
        await serialize(
          parsed.subject,
          async () => await limited(async () => await retry(message, parsed).catch(() => {}))
        )
      }))
      if (due.length > 0) continue
      const isRetryExpected = Date.now() < retriesExpectedUntil
      await retries.wait(isRetryExpected ? RETRY_POLL_MS : IDLE_RETRY_POLL_MS, stopping.signal)
    }
  }

  function expectRetry () {
    retriesExpectedUntil = Date.now() + MAX_RETRY_DELAY_MS + RETRY_POLL_MS
    retries.ring()
  }

  async function retry (message: DueMessage, parsed: ParsedMessage) {
    const failure = hasExhaustedAttempts({ attempts: message.attempts, isDeadLetter: message.parked_at !== null })
      ? { error: 'every process that handled it crashed', transient: true, permanent: true }
      : await handleMessage(message, parsed)
    const isDeadLetter = failure ? await markFailed(db, message, failure) : false
    report(message, failure, isDeadLetter)
    if (!failure) await remove(db, message.key)
  }

  /** Logs what came of a message, and looks for what is due if it is retried. */
  function report (
    { type, key, traceparent, request_id }: FailedMessage,
    failure: Failure | undefined,
    isDeadLetter: boolean
  ) {
    const details = {
      type,
      eventId: key,
      traceId: traceparent?.split('-')[1],
      ...request_id && { requestId: request_id }
    }
    if (!failure) return bus.log.info(details, 'handled an event')
    const withError = { err: failure.error, ...details }
    if (isDeadLetter) return bus.log.error(withError, 'a message that cannot be handled became a dead letter')
    bus.log.warn(withError, 'could not handle a message; retrying later')
    expectRetry()
  }

  return {
    async stop () {
      stopping.abort()
      await Promise.all(loops)
      failedMessageSources.delete(source)
      for (const each of measured) consumers.delete(each)
    }
  }
}

/** @throws while the stream is missing: a service has no right to create it */
async function ensureConsumer (connection: NatsConnection, service: string, publisher: string) {
  const stream = streamOf(publisher)
  const { consumers } = connection.jetstream({ timeout: 2_000 })
  const manager = await connection.jetstreamManager({ timeout: 2_000, checkAPI: false })
  const settings = { ack_wait: nanos(ACK_WAIT_MS), max_ack_pending: MAX_ACK_PENDING }
  try {
    const consumer = await consumers.get(stream, service)
    const { config } = await consumer.info(true)
    // An earlier version has created it.
    if (config.ack_wait !== settings.ack_wait) await manager.consumers.update(stream, service, settings)
    return consumer
  } catch (error) {
    if (!isMissing(error) || isStreamMissing(error)) throw error
  }
  await sleep(STREAM_CREATION_MS)
  await manager.consumers.add(stream, {
    durable_name: service,
    // nats-server 2.9 allows a consumer one filter only. Types without a handler are acknowledged unread.
    filter_subject: subjectOf(`${publisher}.>`),
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.Explicit,
    max_deliver: -1,
    ...settings
  })
  return await consumers.get(stream, service)
}

const typeOf = (message: JsMsg) => message.subject.replace('evt.', '')

/** The row that a message becomes if its handler fails. */
function toFailedMessage (message: JsMsg, publisher: string): FailedMessage {
  const { stream, streamSequence, timestampNanos } = message.info
  const { traceparent = null, requestId = null } = correlationOf(message.headers)
  return {
    key: message.headers?.get('Nats-Msg-Id') || `${stream}/${streamSequence}/${timestampNanos}`,
    stream: streamOf(publisher),
    type: typeOf(message),
    message: message.string(),
    traceparent,
    request_id: requestId
  }
}
