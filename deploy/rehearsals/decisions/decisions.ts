// Decides fifty cases, each by two operators at once, while processes are killed every five seconds, NATS is wiped and
// Redis flushed. Of each two decisions one is made, it is carried out everywhere within ten seconds, and everybody
// learns of it once. Restrictions end on time.
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom, shuffle, startNats, startRedis } from '@tandem/test-kit'
import pg from 'pg'
import { serviceNames as services } from '../../../gateway/routes.ts'
import { check, haveAllPassed } from '../kit/checks.ts'
import { checkAudit } from '../moderation-day/audit.ts'
import { decide, enrollByApi, type Operator } from '../moderation-day/operator-api.ts'
import { inviteFirst, inviteInShell } from '../moderation-day/operators.ts'
import { withStack, type Stack } from '../kit/stack.ts'
import { percentile } from '../kit/percentile.ts'
import { withTeardown } from '../kit/teardown.ts'
import { createCases, findCases, type Author, type Community } from './decision-cases.ts'
import { findDifferences, findFaults, findUnlikeMails, findWrongInboxes, listDelays } from './decision-checks.ts'
import { killRepeatedly, wipeInTurn, type Period, type Rehearsal } from '../kit/kills.ts'
import { measureEnds, moveEnds, scopeOf, signInAgain } from './restriction-ends.ts'

const CASE_INTERVAL_MS = 2_000
const KILL_INTERVAL_MS = 5_000
const MAX_DELAY_MS = 10_000
const MAX_LATE_MS = 1_000
const RESTART_MS = 30_000
/** A mail that was being sent when its worker died is sent again once its lease expires. */
const MAX_MAIL_DELAY_MS = 150_000

/** Measures it. @returns whether every limit holds */
async function decisions () {
  await withTeardown(async (t) => {
    const random = seededRandom({ ...t, passing: haveAllPassed })
    const servers = { NATS: await startNats(t), Redis: await startRedis(t) }
    await withStack(async (stack, dataDir) => {
      const database = new pg.Pool({ connectionString: stack.postgres.url, max: 2 })
      database.on('error', () => {})
      await rehearse({ stack, dataDir, database, random, servers })
      await database.end()
    }, { REDIS_URL: servers.Redis.url, NATS_URL: servers.NATS.url, CONSOLE_PORT: '' })
  })
  return haveAllPassed()
}

async function rehearse (rehearsal: Rehearsal) {
  const { stack, dataDir, database, random, servers } = rehearsal
  const community = await createCases(stack)
  const first = await enrollByApi(stack, 'Ann', await inviteFirst(stack))
  const second = await enrollByApi(stack, 'Bob', await inviteInShell(stack, 'invite', 'second@example.com', 'ADMIN'))
  const cases = shuffle(await findCases(stack, first, community), random)
  console.log(`${cases.length} cases of ${community.authors.length} people`)

  const durationMs = cases.length * CASE_INTERVAL_MS
  const end = Date.now() + durationMs
  const names = ['gateway', ...services]
  const goesOn = () => Date.now() < end
  const [made, ...periods] = await Promise.all([
    decideAll(stack, [first, second], cases),
    killRepeatedly({ dataDir, random, names, intervalMs: KILL_INTERVAL_MS, goesOn }),
    wipeInTurn(servers, durationMs / 3)
  ])
  const outages = periods.flat()
  const calmAt = Math.max(...made.values().map(({ endedAt }) => endedAt), ...outages.map(([, to]) => to))
  const restricted = await withSessions(stack, community)
  const differences = await repeatUntilNone(
    async () => await findDifferences(stack, restricted),
    calmAt + MAX_DELAY_MS
  )
  check(differences.length === 0, `everybody sees what was decided ${differences.join('; ')}`)
  console.log(`they see it ${Date.now() - calmAt} ms after the last outage and the last response`)
  checkDelays(await listDelays(database), made, outages)

  await checkEnds(rehearsal, community)
  const free = await withSessions(stack, community)
  const wrong = await repeatUntilNone(async () => await findWrongInboxes(free), Date.now() + MAX_DELAY_MS)
  check(wrong.length === 0, `authors and reporters were notified once of each decision ${wrong.join('; ')}`)
  const unlike = await repeatUntilNone(
    async () => await findUnlikeMails(stack, free.authors),
    Date.now() + MAX_MAIL_DELAY_MS
  )
  check(unlike.length === 0, `authors have one mail for each, the banned too ${unlike.join('; ')}`)
  const faults = await findFaults(database, cases.map(({ found }) => found.id))
  check(faults.length === 0, `the tables have one decision for each case, and one effect ${faults.join('; ')}`)
  await checkAudit(stack, database)
}

const withSessions = async (stack: Stack, { authors, ...others }: Community): Promise<Community> => ({
  ...others,
  authors: await Promise.all(
    authors.map(async (author) => scopeOf(author, 'ALL') ? await signInAgain(stack, author) : author)
  )
})

interface Made {
  /** When an operator got the response that the decision was made; undefined if that was lost. */
  acknowledgedAt: number | undefined
  endedAt: number
}

/** Has each case decided by both operators at once. @returns when, by the id of the case */
async function decideAll (stack: Stack, operators: Operator[], cases: Awaited<ReturnType<typeof findCases>>) {
  const made = new Map<string, Made>()
  await Promise.all(cases.map(async ({ found: { id, service, version, accountId }, actions }, index) => {
    await sleep(index * CASE_INTERVAL_MS)
    const decision = { case: { service, id, version }, accountId, actions, reason: 'SPAM' }
    const responses = await Promise.all(
      operators.map(async (operator) =>
        await decide(stack, operator, { ...decision, statement: `Decided by ${operator.name}.` })
      )
    )
    const acknowledged = responses.filter((response) => response !== undefined)
    if (acknowledged.length > 1) check(false, `both operators have decided case ${id}`)
    made.set(id, { acknowledgedAt: acknowledged[0], endedAt: Date.now() })
  }))
  return made
}

/** What `find` finds at the end: nothing, or what is still there at `deadline`. */
async function repeatUntilNone (find: () => Promise<string[]>, deadline: number) {
  for (;;) {
    const found = await find()
    if (found.length === 0 || Date.now() > deadline) return found
    await sleep(500)
  }
}

// What a decision passes through. Nothing else excuses a delay.
const involved = new Set(['identity', 'social', 'fitmatch', 'NATS'])

function checkDelays (delays: Awaited<ReturnType<typeof listDelays>>, made: Map<string, Made>, outages: Period[]) {
  const fromResponse: number[] = []
  const fromOutage: number[] = []
  for (const { caseId, madeAt, appliedAt } of delays) {
    const since = made.get(caseId)?.acknowledgedAt ?? madeAt.getTime()
    const applied = appliedAt?.getTime() ?? Infinity
    const ends = outages.filter(([from, to, of]) => involved.has(of) && from < applied && to > since)
      .map(([, to]) => to)
    fromResponse.push(Math.max(0, applied - since))
    fromOutage.push(Math.max(0, applied - Math.max(since, ...ends)))
  }
  const lost = [...made.values()].filter(({ acknowledgedAt }) => acknowledgedAt === undefined).length
  console.log(`${delays.length} decisions, the responses to ${lost} of them were lost; ${outages.length} outages`)
  console.table({
    'an outage': describe(outages.map(([from, to]) => to - from)),
    'carried out after the response': describe(fromResponse),
    'after the outages in between': describe(fromOutage)
  })
  check(Math.max(...fromOutage) <= MAX_DELAY_MS, 'each was carried out within 10 s after the outages in between')
}

const describe = (times: number[]) => ({
  'count': times.length,
  'p50 ms': Math.round(percentile(times, 50)),
  'p95 ms': Math.round(percentile(times, 95)),
  'max ms': Math.round(Math.max(...times))
})

/** Makes the restrictions end, restarts what ends them, and measures how late they do. */
async function checkEnds ({ stack, dataDir, database, random }: Rehearsal, { authors, reader }: Community) {
  const ends = await moveEnds(database, authors, Date.now() + RESTART_MS)
  await Promise.all(
    ['identity', 'social', 'fitmatch'].map(async (name) =>
      await killRepeatedly({ dataDir, random, names: [name], intervalMs: 0, goesOn: (kill) => kill < 1 })
    )
  )
  const signedIn = await Promise.all(
    [...ends].map(async (
      [author, end]
    ): Promise<[Author, number]> => [scopeOf(author, 'ALL') ? await signInAgain(stack, author) : author, end])
  )
  const measured = await measureEnds(new Map(signedIn), reader)
  const kinds = Map.groupBy(measured, ({ name }) => name)
  console.table(
    Object.fromEntries(
      [...kinds].map(([name, own]) => [`${name} after its end`, describe(own.map((each) => each.lateMs))])
    )
  )
  const wrong = measured.filter(({ lateMs, refusals }) => refusals === 0 || lateMs < 0 || lateMs > MAX_LATE_MS)
  check(
    wrong.length === 0,
    `each restriction holds until its end, and ends within a second ${wrong.map(({ name }) => name).join()}`
  )
}

if (!await decisions()) process.exitCode = 1
