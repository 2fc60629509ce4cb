import type pg from 'pg'
import { serviceNames as services } from '../../../gateway/routes.ts'
import { codeOf, codeOfSignIn, findContradictions, listNotified, mailsTo, standingOf } from '../moderation-day/sides.ts'
import type { Stack } from '../kit/stack.ts'
import type { Author, Community } from './decision-cases.ts'
import { scopeOf } from './restriction-ends.ts'

const isBanned = ({ cases }: Author) => cases.some(({ actions }) => actions.some(({ type }) => type === 'BAN'))

/** The decisions that a person learns of. */
const countNotifiable = ({ cases }: Author) =>
  cases.filter(({ actions }) => actions.every(({ type }) => type !== 'DISMISS')).length

/** What people see through the gateway that differs from what was decided. */
export async function findDifferences (stack: Stack, { authors, reader }: Community) {
  const targets = authors.flatMap(({ cases }) => cases.map(({ target }) => target))
  const differences = await Promise.all([
    ...targets.map(async (target) => await findContradictions(target, reader)),
    ...authors.map(async (author) => isBanned(author) ? await findUnbanned(stack, author) : await findUnlike(author))
  ])
  return differences.flat()
}

async function findUnbanned (stack: Stack, author: Author) {
  const code = await codeOfSignIn(stack, author)
  return code === 'ACCOUNT_BANNED' ? [] : [`the banned ${author.username} signs in: ${code}`]
}

async function findUnlike (author: Author) {
  const wrong: string[] = []
  const expect = async (route: string, wanted: string, body?: object) => {
    const code = await codeOf(author.send(body ? 'POST' : 'GET', route, body))
    if (code !== wanted) wrong.push(`${author.username}: ${route}: ${code}, not ${wanted}`)
  }
  const { decisions } = await standingOf(author)
  if (decisions.length !== countNotifiable(author)) wrong.push(`${author.username}: ${decisions.length} decisions`)
  if (scopeOf(author, 'POSTING')) await expect('/feed', 'POSTING_RESTRICTED', { type: 'TEXT', content: 'Still here' })
  if (scopeOf(author, 'FITMATCH')) await expect('/fitmatch/matches', 'PROFILE_SUSPENDED')
  if (scopeOf(author, 'ALL')) await expect('/feed', 'ACCOUNT_RESTRICTED')
  const removed = author.cases.flatMap(({ actions }) => actions.flatMap(({ photoId }) => photoId ?? []))
  if (removed.length > 0) {
    const { data } = await author.send<{ data: { photos: { id: string }[] } }>('GET', '/fitmatch/photos')
    if (data.photos.some(({ id }) => removed.includes(id))) wrong.push(`${author.username} has the removed photo`)
  }
  return wrong
}

/** The people whose inbox does not have each of their notifications once. */
export async function findWrongInboxes ({ authors, reporters }: Community) {
  const wrong: string[] = []
  for (const author of authors.filter((each) => !isBanned(each))) {
    const notified = await listNotified(author, 'decisionId')
    const ids = (await standingOf(author)).decisions.map(({ id }) => id)
    if (!isSame(notified, ids)) {
      wrong.push(`${author.username}: ${notified.length} notifications of ${ids.length} decisions`)
    }
  }
  for (const reporter of reporters) {
    const notified = await listNotified(reporter, 'reportId')
    const reported = authors.flatMap(({ cases }) =>
      cases.flatMap(({ target }) => target.reports.filter((each) => each.reporter.id === reporter.id))
    )
    if (!isSame(notified, reported.map(({ id }) => id))) {
      wrong.push(`reporter ${reporter.id}: ${notified.length} notifications of ${reported.length} reports`)
    }
  }
  return wrong
}

/** The authors who do not have one mail for each decision. */
export async function findUnlikeMails (stack: Stack, authors: Author[]) {
  const wrong = await Promise.all(authors.map(async (author) => {
    const mails = (await mailsTo(stack, author.email)).filter((text) => /Decided by (Ann|Bob)\./.test(text))
    return mails.length === countNotifiable(author) ? [] : [`${author.username}: ${mails.length} mails`]
  }))
  return wrong.flat()
}

const isSame = (one: string[], other: string[]) => one.toSorted().join() === other.toSorted().join()

interface Delay {
  caseId: string
  madeAt: Date
  appliedAt: Date | null
}

/** When each decision was made, and carried out by both services. */
export async function listDelays (database: pg.Pool) {
  const { rows } = await database.query<Delay>(`
    select case_id as "caseId", made_at as "madeAt",
      case when count(service) = 2 then max(applied_at) end as "appliedAt"
    from identity.decisions left join identity.decision_applications on decision_id = decisions.id
    group by decisions.id`)
  return rows
}

/** Rows of which there are none if each of these cases was decided once, by one decision in all services. */
const faults = {
  'cases without exactly one decision': `
    select from unnest($1::uuid[]) as each (id)
    where (select count(*) from identity.decisions where case_id = each.id) <> 1`,
  'cases that are not closed as they were decided': `
    select from identity.decisions left join (
      select id, decision_id, outcome, resolved_at from social.cases
      union all select id, decision_id, outcome, resolved_at from fitmatch.cases
    ) as cases on cases.id = case_id
    where case_id = any($1) and (resolved_at is null or decision_id <> decisions.id or cases.outcome <> decisions.outcome)`,
  'decisions whose strikes are not one for an action, and none for a dismissal': `
    select from identity.decisions where case_id = any($1) and (outcome = 'ACTION_TAKEN') is distinct from exists (
      select from identity.strikes where decision_id = decisions.id)`,
  'decisions without exactly one restriction for each that they name': `
    select from identity.decisions where case_id = any($1)
      and (select count(*) from jsonb_array_elements(actions) as action where action ->> 'type' = 'RESTRICT')
        <> (select count(*) from identity.restrictions where decision_id = decisions.id)`,
  'decisions with another number of notifications': `
    select from identity.decisions where case_id = any($1)
      and (not actions @> '[{"type": "DISMISS"}]')::int <> (
        select count(*) from notification.notifications where dedupe_key = 'decision:' || decisions.id)`
}

/** What is wrong in the tables. */
export async function findFaults (database: pg.Pool, caseIds: string[]) {
  const found: string[] = []
  for (const [name, query] of Object.entries(faults)) {
    const { rowCount } = await database.query(query, [caseIds])
    if (rowCount) found.push(`${rowCount} ${name}`)
  }
  for (const service of services) {
    const { rowCount } = await database.query(`select from "${service}".failed_messages`)
    if (rowCount) found.push(`${rowCount} failed messages of ${service}`)
  }
  return found
}
