import { setTimeout as sleep } from 'node:timers/promises'
import type { WebSocket } from 'ws'
import { startFakeFcm } from '../../../services/notification/test/fake-fcm.ts'
import { call } from '../kit/call.ts'
import { readStack, withStack, type Stack } from '../kit/stack.ts'
import { createPairs, sendMessage, type Writer } from './pairs.ts'
import { openOne } from './processes.ts'
import { report } from './report.ts'

/** How long a push that must not be sent is waited for. */
const SETTLE_MS = 9_000
/** In each case. */
const PAIRS = 20

/** What happens to a chat message that is sent to somebody with a device, and what its push must do then. */
interface Case {
  what: string
  isFocused: boolean
  afterwards: (readers: Reader[], stack: { stack: Stack, dataDir: string }) => Promise<unknown>
  pushes: 0 | 1
  /** From the message to its push. */
  maxMs: number
}

interface Reader extends Writer {
  socket: WebSocket
}

const nothing = async () => {}

const cases: Case[] = [
  { what: 'another screen', isFocused: false, afterwards: nothing, pushes: 1, maxMs: 2_000 },
  {
    what: 'the chat on the screen, read',
    isFocused: true,
    afterwards: async (readers, { stack }) =>
      await Promise.all(
        readers.map(async ({ token, matchId }) =>
          await call(stack, 'POST', `/fitmatch/chat/${matchId}/read`, { token, body: {} })
        )
      ),
    pushes: 0,
    maxMs: 0
  },
  { what: 'the chat on the screen, unread', isFocused: true, afterwards: nothing, pushes: 1, maxMs: 6_000 },
  {
    what: 'the chat on the screen of a client that is killed',
    isFocused: true,
    afterwards: async (readers) => readers.forEach(({ socket }) => socket.terminate()),
    pushes: 1,
    maxMs: 6_000
  },
  {
    what: 'the chat on the screen, and the gateway is killed',
    isFocused: true,
    afterwards: async (_, { dataDir }) => process.kill((await readStack(dataDir)).gateway.pid ?? 0, 'SIGKILL'),
    pushes: 1,
    maxMs: 6_000
  }
]

/** Sends messages to people who look at the chat or do not: which of them are pushed, how often and when. */
export async function run () {
  const provider = await startFakeFcm()
  const environment = { FCM_BASE_URL: provider.url, FCM_SERVICE_ACCOUNT_FILE: provider.file }
  await withStack(async (stack, dataDir) => {
    const writers = await createPairs(stack, PAIRS * cases.length)
    for (const [number, { what, isFocused, afterwards, pushes, maxMs }] of cases.entries()) {
      const own = writers.slice(number * PAIRS * 2, (number + 1) * PAIRS * 2)
      const senders = own.filter((_, index) => index % 2 === 1)
      const readers = await Promise.all(
        own.filter((_, index) => index % 2 === 0).map(async (reader) => {
          const body = { token: reader.accountId, platform: 'android' }
          await call(stack, 'POST', '/notifications/push', { token: reader.token, body })
          const socket = await openOne(stack.gateway.url, reader.token)
          if (isFocused) socket.send(JSON.stringify({ type: 'focus', data: { matchId: reader.matchId } }))
          return { ...reader, socket }
        })
      )
      // The gateway reports the focus with its next read.
      await sleep(1_000)
      const sentAt = await Promise.all(
        senders.map(async (sender) => (await sendMessage(stack, sender, what)).createdAt)
      )
      await afterwards(readers, { stack, dataDir })
      await sleep(SETTLE_MS)
      const seen = readers.map(({ accountId }) => provider.seen.filter(({ token }) => token === accountId))
      const delays = seen.flatMap((each, index) => each.map(({ at }) => at - Date.parse(sentAt[index]!)))
      console.log(what)
      report([
        {
          what: `  messages without exactly ${pushes} pushes`,
          figure: seen.filter(({ length }) => length !== pushes).length,
          unit: '',
          atMost: 0
        },
        { what: '  slowest push', figure: Math.max(0, ...delays), unit: 'ms', atMost: maxMs }
      ])
    }
  }, environment)
  await provider.close()
}
