import { setTimeout as sleep } from 'node:timers/promises'
import { context, propagation, ROOT_CONTEXT } from '@opentelemetry/api'
import { AckPolicy, DeliverPolicy, nanos, type Consumer, type JsMsg, type NatsConnection } from 'nats'
import type { Kysely } from 'kysely'
import type { Bus } from './connection.ts'
import { countFailure, forget, park, replayOne, type DeadLetterTables } from './dead-letters.ts'
import { parseEnvelope, type Envelope } from './envelope.ts'
import { Malformed, type Handler } from './handlers.ts'
import { lanes } from './lanes.ts'
import { Unavailable } from './questions.ts'
import { ensureStream, isMissing, streamOf, subjectOf } from './streams.ts'

const IN_FLIGHT = 256
const AT_ONCE = 4
const ACK_WAIT = 10_000
const STILL_WORKING_EVERY = 3_000
const FETCH_FOR = 2_000
const TROUBLE_PAUSE = 500
const REPLAY_EVERY = 2_000
const ATTEMPTS = 10
const LONGEST_WAIT = 60_000

export interface Consumers { stop (): Promise<void> }

/**
 * Hears every event that `handlers` name, through one durable consumer for each service that says some of them.
 * Replicas share the durable, so each message goes to one of them. `stop()` hands back what is not begun and waits for the rest.
 */
export function startConsumers (bus: Bus, db: Kysely<DeadLetterTables>, handlers: Handler[]): Consumers {
  const stopping = new AbortController()
  const speakers = new Set(handlers.map(({ event }) => event.service))
  const loops = [...speakers].map((speaker) => hearFrom(speaker))
  loops.push(replayDeadLetters())

  async function hearFrom (speaker: string) {
    let lastWord = ''
    while (!stopping.signal.aborted) {
      const connection = bus.current()
      try {
        if (connection) await pull(await ensureConsumer(connection, bus.service, speaker), speaker)
      } catch (error) {
        // Whatever became of the stream or the connection, the next round makes anew what is missing.
        if (String(error) !== lastWord) bus.log.warn({ err: error }, `cannot hear ${speaker} just now; trying on`)
        lastWord = String(error)
      }
      await sleep(TROUBLE_PAUSE, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  async function pull (consumer: Consumer, speaker: string) {
    const lane = lanes(AT_ONCE)
    const stop = () => fetched?.stop()
    let fetched: Awaited<ReturnType<Consumer['fetch']>> | undefined
    stopping.signal.addEventListener('abort', stop)
    try {
      while (!stopping.signal.aborted && bus.current()) {
        fetched = await consumer.fetch({ max_messages: IN_FLIGHT, expires: FETCH_FOR })
        for await (const message of fetched) {
          if (stopping.signal.aborted) message.nak()
          else await lane.enter(laneOf(message), () => deliver(message, speaker))
        }
      }
    } finally {
      stopping.signal.removeEventListener('abort', stop)
      await lane.empty()
    }
  }

  async function deliver (message: JsMsg, speaker: string) {
    const beat = setInterval(() => message.working(), STILL_WORKING_EVERY)
    try {
      await handle(message.string(), message.headers?.get('traceparent'))
      if (message.info.redeliveryCount > 1) await forget(db, keyOf(message))
      message.ack()
    } catch (error) {
      await refuse(message, speaker, error)
    } finally {
      clearInterval(beat)
    }
  }

  async function handle (text: string, traceparent?: string) {
    const envelope = parse(text)
    const active = propagation.extract(ROOT_CONTEXT, { traceparent })
    for (const handler of handlers) {
      if (handler.event.type === envelope.type) await context.with(active, () => handler.hear(envelope))
    }
  }

  async function refuse (message: JsMsg, speaker: string, error: unknown) {
    const key = keyOf(message)
    try {
      // What is merely away will come back, so waiting for it counts as no attempt.
      if (error instanceof Unavailable) return message.nak(ACK_WAIT)
      const attempts = await countFailure(db, {
        key, stream: streamOf(speaker), type: typeOf(message), message: message.string(), error: String(error)
      })
      if (attempts < ATTEMPTS && !(error instanceof Malformed)) return message.nak(waitAfter(attempts))
      await park(db, key)
      message.ack()
      bus.log.error({ err: error, type: typeOf(message), key }, 'parked a message that cannot be handled')
    } catch {
      message.nak(waitAfter(1))
    }
  }

  async function replayDeadLetters () {
    while (!stopping.signal.aborted) {
      const found = await replayOne(db, handle).catch(() => false)
      if (!found) await sleep(REPLAY_EVERY, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  return {
    async stop () {
      stopping.abort()
      await Promise.all(loops)
    }
  }
}

async function ensureConsumer (connection: NatsConnection, service: string, speaker: string) {
  const stream = streamOf(speaker)
  const manager = await connection.jetstreamManager({ timeout: 2_000 })
  try {
    await manager.consumers.info(stream, service)
  } catch (error) {
    if (!isMissing(error)) throw error
    await ensureStream(connection, speaker)
    await manager.consumers.add(stream, {
      durable_name: service,
      // Of the server that tests run on, a consumer can have one filter only: what nobody here hears is acknowledged unread.
      filter_subject: subjectOf(`${speaker}.>`),
      deliver_policy: DeliverPolicy.All,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ACK_WAIT),
      max_deliver: -1,
      max_ack_pending: IN_FLIGHT
    })
  }
  return await connection.jetstream().consumers.get(stream, service)
}

function parse (text: string): Envelope {
  try {
    return parseEnvelope(text)
  } catch (error) {
    throw new Malformed(`cannot be read: ${String(error)}`)
  }
}

/** What must be handled one after the other: the events about one thing. */
function laneOf (message: JsMsg) {
  try {
    return parseEnvelope(message.string()).subject
  } catch {
    return keyOf(message)
  }
}

const keyOf = (message: JsMsg) => message.headers?.get('Nats-Msg-Id') || `${message.info.stream}/${message.seq}`
const typeOf = (message: JsMsg) => message.subject.replace('evt.', '')
const waitAfter = (attempts: number) => Math.min(1_000 * 2 ** (attempts - 1), LONGEST_WAIT)
