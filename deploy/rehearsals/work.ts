// Counts what one request of each kind of the mix causes until nothing more happens: statements of each service, commits,
// events, commands of Redis and log lines: `npm run rehearse work`. It fails if a kind takes more statements than
// MOST_STATEMENTS allows. `-- like home` counts these alone, and prints their statements. Counts do not depend on the
// speed of a machine.
import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import pg from 'pg'
import { serviceNames } from '../../gateway/routes.ts'
import { call } from './kit/call.ts'
import { START_SETTLE_MS, withStack, type Stack } from './kit/stack.ts'
import { mix } from './mix/requests.ts'
import { fillWorld, type World } from './mix/world.ts'

const REQUESTS = 40
const PAUSE_MS = 100
// Until consumers, relays and jobs have finished with the last request.
const REST_MS = 3_000

// What fewer than half of the requests cause is done at its time, such as housekeeping, or whenever something is due.
const USUAL = REQUESTS / 2

/** Of all services together, for a request. */
const MOST_STATEMENTS: Record<string, number> = {
  feed: 2,
  like: 18,
  home: 9,
  profile: 3,
  chats: 6,
  chat: 4,
  message: 20,
  // With the time when the person was last active, once in a while.
  discover: 4,
  comment: 16,
  notifications: 2,
  post: 9,
  register: 45
}

type Counts = Map<string, number>
const isProcess = (name: string) => name === 'gateway' || serviceNames.some((service) => service === name)

const only = process.argv.slice(2)
const unknown = only.filter((name) => !Object.hasOwn(mix, name))
if (unknown.length > 0) throw new Error(`there is no kind ${unknown.join()}, only ${Object.keys(mix).join()}`)

let passed = true
await withStack(async (stack, dataDir) => {
  const admin = new pg.Client({ connectionString: stack.postgres.url })
  await admin.connect()
  const redis = new Redis(stack.redis.url)
  const world = await fillWorld(stack)
  await admin.query(`alter system set log_statement = 'all'`)
  await admin.query(`alter system set log_line_prefix = '%u '`)
  await admin.query('select pg_reload_conf()')
  await sleep(START_SETTLE_MS)

  const count = async (work: () => Promise<void>) => await countDuring(work, { redis, dataDir })
  const atRest = await count(async () => await sleep(REQUESTS * PAUSE_MS))
  for (const name of only.length > 0 ? only : Object.keys(mix)) {
    // Caches fill, and statements are prepared.
    await request(stack, world, name, 10)
    const { counts, statements } = await count(async () => await request(stack, world, name, REQUESTS))
    const others = new Map(
      [...counts].map(([what, number]) => [what, (number - (atRest.counts.get(what) ?? 0)) / REQUESTS])
    )
    const usual = [...statements].filter(([, number]) => number >= USUAL)
    passed = report(name, countByService(usual), others) && passed
    if (only.length > 0) showStatements(usual)
  }
  redis.disconnect()
  await admin.end()
}, { LIMIT_PROFILE: 'relaxed' })
process.exitCode = passed ? 0 : 1

async function request (stack: Stack, world: World, name: string, times: number) {
  for (let time = 0; time < times; time++) {
    const { method, path: route, token, body } = mix[name]![1](world)
    await call(stack, method, route, { ...(token && { token }), ...(body && { body }) }).catch((error: Error) => {
      // The mix chooses posts that the person may like already.
      if (!error.message.includes('"ALREADY_LIKED"')) throw error
    })
    await sleep(PAUSE_MS)
  }
}

async function countDuring (work: () => Promise<void>, { redis, dataDir }: { redis: Redis, dataDir: string }) {
  const log = path.join(dataDir, 'logs/postgres.log')
  await sleep(REST_MS)
  const start = statSync(log).size
  const before = await readTotals(redis, dataDir)
  await work()
  await sleep(REST_MS)
  const after = await readTotals(redis, dataDir)
  const counts: Counts = new Map(Object.entries(after).map(([what, total]) => [what, total - before[what]!]))
  const statements: Counts = new Map()
  const add = (what: string, to = counts) => to.set(what, (to.get(what) ?? 0) + 1)
  for await (const { service, text } of readStatements(log, start)) {
    if (/^commit/i.test(text)) add('commits')
    else if (!/^(begin|rollback)/i.test(text)) add(`${service}: ${text}`, statements)
    if (text.startsWith('insert into "outbox"')) add('events')
  }
  return { counts, statements }
}

/** What services have sent to Postgres. A statement of several lines continues in lines that begin with a tab. */
async function* readStatements (log: string, start: number) {
  let current: { service: string, text: string } | undefined
  for await (const line of createInterface({ input: createReadStream(log, { start }) })) {
    if (line.startsWith('\t')) {
      if (current) current.text += ` ${line.trim()}`
      continue
    }
    if (current) yield current
    const [, service, text = ''] = /^tandem_(\w+) LOG: {2}(?:statement|execute [^:]+): (.*)/.exec(line) ?? []
    current = service ? { service, text } : undefined
  }
  if (current) yield current
}

function showStatements (statements: [string, number][]) {
  for (const [statement, number] of statements.sort(([, one], [, other]) => other - one)) {
    console.log(`  ${(number / REQUESTS).toFixed(1)} ${statement.slice(0, 240)}`)
  }
}

function countByService (statements: [string, number][]): Counts {
  const counts: Counts = new Map()
  for (const [statement, number] of statements) {
    const service = statement.split(':')[0]!
    counts.set(service, (counts.get(service) ?? 0) + number / REQUESTS)
  }
  return counts
}

async function readTotals (redis: Redis, dataDir: string): Promise<Record<string, number>> {
  const [, commands] = /total_commands_processed:(\d+)/.exec(await redis.info('stats')) ?? []
  const logs = path.join(dataDir, 'logs')
  const lines = readdirSync(logs).filter((file) => isProcess(file.replace('.log', ''))).reduce(
    (sum, file) => sum + readFileSync(path.join(logs, file), 'utf8').split('\n').length,
    0
  )
  return { 'Redis commands': Number(commands), 'log lines': lines }
}

/** @returns whether it takes no more statements than allowed */
function report (name: string, services: Counts, others: Counts) {
  const statements = [...services.values()].reduce((sum, number) => sum + number, 0)
  const most = MOST_STATEMENTS[name] ?? 0
  const show = (counts: Counts) => [...counts].map(([what, number]) => `${what} ${number.toFixed(1)}`).join(', ')
  console.log(
    `${name.padEnd(14)} ${statements.toFixed(1)} statements${statements > most ? `, more than ${most}` : ''} ` +
      `(${show(services)}); ${show(others)}`
  )
  return statements <= most
}
