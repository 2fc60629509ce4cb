// A day of moderation: people report eighty things three hundred times through the public API, two operators decide all
// of it in a browser, five people appeal, and one decision is reversed. Afterwards both sides must see what was decided,
// and the audit must be complete.
import { setTimeout as sleep } from 'node:timers/promises'
import { openBrowser } from '@tandem/test-kit/browser'
import pg from 'pg'
import { check, haveAllPassed } from '../kit/checks.ts'
import { call } from '../kit/call.ts'
import { withStack, type Stack } from '../kit/stack.ts'
import { percentile } from '../kit/percentile.ts'
import { withTeardown } from '../kit/teardown.ts'
import { checkAudit } from './audit.ts'
import { createCommunity, reportEverything, type Community, type Target } from './community.ts'
import {
  answerAppeal,
  enroll,
  hasDecided,
  inviteFirst,
  inviteModerator,
  workThroughQueue,
  type Decided,
  type Desk
} from './operators.ts'
import { codeOfSignIn, countNotified, findContradictions, mailsTo, standingOf, statusOf } from './sides.ts'

const TIMEOUT_MS = 30_000

/** Each decision, once for each service that carries it out. */
const awaited = `
  select decisions.id, made_at, applied_at from identity.decisions
  cross join unnest(array['social', 'fitmatch']) as service
  left join identity.decision_applications done on decision_id = decisions.id and done.service = service.service`

await withTeardown(async (t) => {
  await withStack(async (stack) => {
    const db = new pg.Pool({ connectionString: stack.postgres.url, max: 2 })
    // The end of the system ends its connections.
    db.on('error', () => {})
    const browser = await openBrowser(t)
    const community = await createCommunity(stack)
    const reports = await reportEverything(community)
    const { targets, authors, reporters } = community
    console.log(`${authors.length + reporters.length} people, ${targets.length} targets, ${reports} reports`)
    const suspended = targets.find(({ type }) => type === 'PROFILE')!.author
    await waitUntil(async () => (await standingOf(suspended)).decisions.some(({ automated }) => automated))

    const admin = await enroll(browser, 'administrator', await inviteFirst(stack))
    const moderator = await enroll(
      browser,
      'moderator',
      await inviteModerator(admin, stack, 'moderator@example.com')
    )
    const since = performance.now()
    // The threat and the suspended profile come first, and only an administrator bans.
    const decided = await workThroughQueue(admin, stack, 2)
    const both = await Promise.all([admin, moderator].map(async (desk) => await workThroughQueue(desk, stack)))
    decided.push(...both.flat())
    printPace(decided, (performance.now() - since) / 1_000)
    check(decided.length === targets.length, `${decided.length} cases were decided for ${targets.length} targets`)
    await waitUntil(async () => await countAwaited(db) === 0)
    await printDelays(db)

    await checkBothSides(stack, community)
    await appealAndAnswer(stack, community, [admin, moderator])
    check(
      (await standingOf(suspended)).restrictions.length === 0,
      'the dismissal ended the suspension without operator'
    )
    check((await findAll(targets, reporters.at(-1)!)).length === 0, 'both sides see the same after the appeals')
    for (const { name, problems, refusals } of [admin, moderator]) {
      check(problems.length === 0, `the policy refused nothing to the ${name} ${problems.join()}`)
      console.log(`${name}: ${refusals.length} pages refused or not answered in time ${refusals.join(' | ')}`)
    }
    await checkAudit(stack, db)
    await db.end()
  }, { CONSOLE_PORT: '' })
})
process.exit(haveAllPassed() ? 0 : 1)

function printPace (decided: Decided[], seconds: number) {
  const times = decided.map(({ ms }) => ms)
  const by = Map.groupBy(decided, (each) => each.by)
  console.log(
    `decided in ${Math.round(seconds)} s by ${[...by].map(([name, own]) => `${name} ${own.length}`).join(', ')}; ` +
      `a case takes ${Math.round(percentile(times, 50))} ms (p50), ${Math.round(percentile(times, 95))} ms (p95)`
  )
}

async function countAwaited (db: pg.Pool) {
  const { rows } = await db.query(`${awaited} where applied_at is null`)
  return rows.length
}

async function printDelays (db: pg.Pool) {
  const { rows } = await db.query<{ ms: string }>(
    `select extract(epoch from max(applied_at) - min(made_at)) * 1000 as ms from (${awaited}) as each group by id`
  )
  const times = rows.map(({ ms }) => Number(ms))
  console.log(
    `${times.length} decisions were carried out after ${Math.round(percentile(times, 50))} ms (p50), ` +
      `${Math.round(percentile(times, 95))} ms (p95), at most ${Math.round(Math.max(...times))} ms`
  )
}

async function findAll (targets: Target[], reader: Community['reporters'][number]) {
  return (await Promise.all(targets.map(async (target) => await findContradictions(target, reader)))).flat()
}

async function checkBothSides (stack: Stack, { authors, targets, reporters }: Community) {
  // Reporters are checked by what they see of their own reports; the last one reads what everybody sees.
  const banned = authors.at(-1)!
  const open = targets.filter(({ author }) => author !== banned)
  const wrong = await findAll(open, reporters.at(-1)!)
  check(wrong.length === 0, `reporters and readers see every outcome ${wrong.slice(0, 5).join('; ')}`)
  let notified = 0
  for (const author of authors.slice(0, -1)) {
    const against = targets.filter((target) => target.author === author && target.verdict !== 'fine')
    const standing = await standingOf(author)
    const own = standing.decisions.filter(({ statement }) => statement.startsWith('This was'))
    check(own.length === against.length, `${author.username} sees ${own.length} of ${against.length} decisions`)
    const isRestricted = against.some(({ verdict }) => verdict === 'insult')
    const status = await statusOf(author, '/feed', { type: 'TEXT', content: 'What did I do?' })
    check(status === (isRestricted ? 403 : 200), `${author.username} gets ${status} when they post`)
    for (const { type, id } of against.filter((each) => each.type === 'POST')) {
      const { data } = await author.send<{ data: { post: { isHidden: boolean } } }>('GET', `/feed/${id}`)
      check(data.post.isHidden, `${author.username} sees their hidden ${type.toLowerCase()}`)
    }
    notified += await countNotified(author)
    const countMails = async () =>
      (await mailsTo(stack, author.email)).filter((text) => text.includes('This was')).length
    // Mails are sent one after the other.
    await waitUntil(async () => await countMails() >= against.length).catch(() => {})
    check(await countMails() === against.length, 'and has a mail for each')
  }
  console.log(`${notified} notifications of decisions`)
  check(await codeOfSignIn(stack, banned) === 'ACCOUNT_BANNED', 'the banned person cannot sign in')
}

/** Two authors, two reporters and the banned person appeal; the ban is reversed. */
async function appealAndAnswer (stack: Stack, { authors, targets, reporters }: Community, desks: Desk[]) {
  const banned = authors.at(-1)!
  const ban = (await mailsTo(stack, banned.email)).find((text) => text.includes('This was threat'))
  const token = new URLSearchParams(/#(token=\S+)/.exec(ban ?? '')?.[1]).get('token')
  await call(stack, 'POST', '/account/appeals', { body: { token, text: 'Appeal of the banned person' } })
  for (const [index, author] of authors.slice(0, 2).entries()) {
    const [decision] = (await standingOf(author)).decisions
    await author.send('POST', '/account/appeals', { decisionId: decision!.id, text: `Appeal of author ${index}` })
  }
  const dismissed = targets.filter(({ type, verdict, author }) =>
    type === 'POST' && verdict === 'fine' && author !== banned
  )
  for (const [index, { reports: [report] }] of dismissed.slice(0, 2).entries()) {
    const { reporter, id } = report!
    await reporter.send('POST', '/account/appeals', { reportId: id, text: `Appeal of reporter ${index}` })
  }
  const texts = ['the banned person', 'author 0', 'author 1', 'reporter 0', 'reporter 1']
  for (const who of texts) {
    const text = `Appeal of ${who}`
    const desk = await hasDecided(desks[0]!, stack, text) ? desks[1]! : desks[0]!
    await answerAppeal(desk, stack, { text, outcome: who.startsWith('the banned') ? 'REVERSED' : 'UPHELD' })
  }
  // Their threat is shown again: the reversal undoes all of the decision.
  for (const target of targets) if (target.verdict === 'threat') target.verdict = 'fine'
  check(await codeOfSignIn(stack, banned) === 'OK', 'the banned person can sign in after the reversal')
  const { accessToken } = await call<{ accessToken: string }>(stack, 'POST', '/auth/login', {
    body: { email: banned.email, password: banned.password }
  })
  const { data: { standing } } = await call<{ data: { standing: Awaited<ReturnType<typeof standingOf>> } }>(
    stack,
    'GET',
    '/account/standing',
    { token: accessToken }
  )
  check(standing.decisions.some(({ appeal }) => appeal?.status === 'REVERSED'), 'and sees that they were right')
  for (const author of authors.slice(0, 2)) {
    const [decision] = (await standingOf(author)).decisions
    check(decision?.appeal?.status === 'UPHELD', `${author.username} sees that the decision stands`)
  }
  await waitUntil(async () => (await findAll(targets, reporters.at(-1)!)).length === 0).catch(() => {})
}

async function waitUntil (isTrue: () => Promise<boolean>) {
  const until = Date.now() + TIMEOUT_MS
  while (!await isTrue()) {
    if (Date.now() > until) throw new Error(`after ${TIMEOUT_MS / 1_000} s it is not so: ${String(isTrue)}`)
    await sleep(200)
  }
}
