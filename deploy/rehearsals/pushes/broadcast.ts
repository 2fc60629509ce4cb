import { setTimeout as sleep } from 'node:timers/promises'
import { MessageSent } from '@tandem/contracts'
import { sql } from 'kysely'
import { publishPaced, type LoadEvent, type PublishedEvent } from './load.ts'
import { createId, createPeople } from './people.ts'
import type { World } from './world.ts'
import { report } from './report.ts'

const CHATS_PER_SECOND = 10
const TIMEOUT_MS = 300_000
const STEP = 10_000

/** A broadcast to 100,000 devices, while people chat. The number of devices can be given as an argument. */
export async function broadcast (world: World) {
  const { db, provider, check } = world
  const people = Number(process.argv[3] ?? 100_000)
  const accounts = await createPeople(db, people, 1)
  let message = 0
  const chat = async (count: number) =>
    await publishPaced(db, Array.from({ length: count }, () => createMessage(accounts, ++message)), CHATS_PER_SECOND)
  const sent = () => provider.seen.filter(({ message }) => message.data.type === 'ADMIN')

  await chat(50)
  const alone = await chat(300)
  await sleep(1_000)
  report(world, 'chat alone', alone)

  const began = Date.now()
  await sql`
    insert into notification.broadcasts (id, title, body)
    values (uuidv7(), '{"en":"News","id":"Kabar"}', '{"en":"See","id":"Lihat"}')`.execute(db)
  const during: PublishedEvent[] = []
  while (sent().length < people && Date.now() - began < TIMEOUT_MS) during.push(...await chat(20))
  await sleep(2_000)

  const seconds = sent().map(({ at }) => (at - began) / 1_000)
  report(world, 'chat during the broadcast', during)
  const devices = new Set(sent().map(({ token }) => token)).size
  const total = seconds.at(-1) ?? Number.NaN
  const rate = (devices / total).toFixed(0)
  console.log(`broadcast: ${devices} of ${people} devices in ${total.toFixed(0)} s, ${rate}/s`)
  const steps = seconds.filter((_, index) => (index + 1) % STEP === 0).map((second) => second.toFixed(1))
  console.log(`seconds until each ten thousand: ${steps.join(', ')}`)
  check(devices === people, `each device received the broadcast within ${TIMEOUT_MS / 1_000} s`)
}

function createMessage (accounts: string[], number: number): LoadEvent {
  const [recipientId, senderId] = [accounts[number % 50]!, accounts[50 + number % 50]!]
  const messageId = createId('c', number)
  return {
    event: MessageSent,
    key: messageId,
    subject: messageId,
    data: { matchId: createId('d', number), messageId, senderId, recipientId, hasImage: false }
  }
}
