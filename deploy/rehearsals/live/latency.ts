import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { call } from '../kit/call.ts'
import { withStack, type Stack } from '../kit/stack.ts'
import { percentile } from '../kit/percentile.ts'
import { createPairs, sendMessage, type Writer } from './pairs.ts'
import { openOne } from './processes.ts'
import { report } from './report.ts'

const PAIRS = 125
const SECONDS = 20
/** A system that was just started loads places and compiles its code; this time is not measured. */
const WARM_UP_SECONDS = 15
/** Below the 60 messages a minute that an account can send. */
const MESSAGES_PER_WRITER = 0.8

interface Frame {
  type: string
  at: string
  data: { message?: { createdAt: string, isMine: boolean } }
}

/** Sends messages between connected people: the time from the commit to the other's socket. */
export async function run () {
  await withStack(async (stack) => {
    const writers = await createPairs(stack, PAIRS)
    const messages: number[] = []
    const typing: number[] = []
    let refused = 0
    const measuredFrom = Date.now() + WARM_UP_SECONDS * 1_000
    const onFrame = ({ type, at, data }: Frame) => {
      const { message } = data
      if (Date.parse(at) < measuredFrom) return
      if (type === 'message.created' && message && !message.isMine) {
        messages.push(Date.now() - Date.parse(message.createdAt))
      }
      if (type === 'chat.typing') typing.push(Date.now() - Date.parse(at))
    }
    for (const { token } of writers) await openOne(stack.gateway.url, token, onFrame as never)
    const events = await readEvents(stack, writers[0]!)
    const until = performance.now() + (WARM_UP_SECONDS + SECONDS) * 1_000
    await Promise.all(writers.map(async (writer, number) => {
      await sleep(Math.random() * 1_000 / MESSAGES_PER_WRITER)
      for (let turn = 0; performance.now() < until; turn++) {
        const startedAt = performance.now()
        // A system that is overloaded refuses requests.
        await write(stack, writer, `${number}-${turn}`).catch(() => refused++)
        await sleep(Math.max(0, 1_000 / MESSAGES_PER_WRITER - (performance.now() - startedAt)))
      }
    }))
    await sleep(2_000)
    const toNotification = await notificationDelay(stack, new Date(measuredFrom))
    const p50 = percentile(messages, 50)
    console.log(
      `${messages.length} messages, ${Math.round(messages.length / SECONDS)} a second; ` +
        `one of ${writers.length} people also listens over server-sent events and got ${events.count()} frames`
    )
    report([
      { what: 'refused messages', figure: refused, unit: '', atMost: 0 },
      { what: 'commit to the other socket, p50', figure: p50, unit: 'ms', atMost: 60 },
      { what: 'commit to the other socket, p99', figure: percentile(messages, 99), unit: 'ms', atMost: 200 },
      {
        what: 'p50, against commit to notification',
        figure: p50,
        unit: 'ms',
        atMost: toNotification + 12,
        reference: toNotification
      },
      { what: 'typing, p99', figure: percentile(typing, 99), unit: 'ms', atMost: 30 }
    ])
  })
}

/** Types and sends a message. */
async function write (stack: Stack, writer: Writer, content: string) {
  const { token, matchId } = writer
  await call(stack, 'POST', `/fitmatch/chat/${matchId}/typing`, { token, body: { isTyping: true } })
  await sendMessage(stack, writer, content)
}

/** Listens over server-sent events as `curl` would. */
async function readEvents ({ gateway }: Stack, { token }: Writer) {
  const response = await fetch(`${gateway.url}/api/mobile/v1/realtime`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${token}` }
  })
  let frames = 0
  void (async () => {
    for await (const chunk of response.body!) {
      frames += Buffer.from(chunk).toString().split('\n').filter((line) => line.startsWith('event: ')).length
    }
  })().catch(() => {})
  return { count: () => frames }
}

/** The median time from the commit of a message to its notification, in milliseconds. */
async function notificationDelay ({ postgres }: Stack, from: Date) {
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  try {
    const { rows: [row] } = await client.query<{ ms: number }>(
      `select percentile_cont(0.5) within group (
         order by extract(epoch from notifications.created_at - messages.created_at) * 1000)::float8 as ms
       from fitmatch.messages
       join notification.notifications on notifications.data ->> 'messageId' = messages.id::text
       where messages.created_at > $1`,
      [from]
    )
    return row?.ms ?? 0
  } finally {
    await client.end()
  }
}
