// Measures pages of the operators' console with 10,000 open cases, and fails if a p95 is above 150 ms.
import { createHash, randomBytes } from 'node:crypto'
import pg from 'pg'
import { get, Agent } from 'node:http'
import { percentile } from './kit/percentile.ts'
import { withStack, type Stack } from './kit/stack.ts'

const OPEN_CASES = 10_000
const REQUESTS = 100
const MAX_P95_MS = 150

async function withDatabase<Result> (stack: Stack, work: (db: pg.Client) => Promise<Result>) {
  const db = new pg.Client(stack.postgres.url)
  await db.connect()
  try {
    return await work(db)
  } finally {
    await db.end()
  }
}

/** Cases of posts, a hundredth of them about safety, each with evidence and two reports. */
async function createCases (db: pg.Client) {
  await db.query('set search_path = social')
  await db.query(`
    with made as (
      insert into cases
        (target_type, target_id, account_id, priority, due_at, reports_count, evidence_digest, is_restricted)
      select 'POST', gen_random_uuid(), gen_random_uuid(), 1 + (n % 20 = 0)::int + (n % 100 = 0)::int,
        now() + interval '1 day', 2, '\\x00', false
      from generate_series(1, ${OPEN_CASES}) n returning id
    ), evidence as (
      insert into case_evidence (case_id, digest, content)
      select id, '\\x00', jsonb_build_object('content', repeat('Words of a post. ', 30),
        'author', jsonb_build_object('name', 'Somebody', 'username', 'somebody')) from made
    )
    insert into reports (case_id, reporter_id, reason, evidence)
    select id, gen_random_uuid(), 'SPAM', '{}' from made, generate_series(1, 2)`)
  await db.query('analyze cases, case_evidence, reports')
}

/** A session as after the use of a passkey. @returns its secret */
async function createSession (db: pg.Client) {
  const secret = randomBytes(32).toString('base64url')
  await db.query('set search_path = identity')
  const { rows: [staff] } = await db.query<{ id: string }>(
    "insert into staff (email, role) values ('bench@example.com', 'ADMIN') returning id"
  )
  await db.query('insert into staff_sessions (digest, staff_id) values ($1, $2)', [
    createHash('sha256').update(secret).digest(),
    staff?.id
  ])
  return secret
}

const agent = new Agent({ keepAlive: true })

async function fetchPage (origin: string, path: string, cookie: string) {
  const { host, port } = new URL(origin)
  const since = performance.now()
  return await new Promise<{ ms: number, status: number, text: string }>((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent, headers: { host, cookie } }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ ms: performance.now() - since, status: response.statusCode ?? 0, text }))
    }).on('error', reject)
  })
}

await withStack(async (stack) => {
  const origin = stack.console.url
  const cookie = await withDatabase(stack, async (db) => {
    await createCases(db)
    return `__Host-session=${await createSession(db)}`
  })
  const first = await fetchPage(origin, '/queue', cookie)
  const caseOf = /href="(\/cases\/[^"]+)"/.exec(first.text)?.[1] ?? ''
  const nextPage = /href="(\/queue\?cursor=[^"]+)"/.exec(first.text)?.[1] ?? ''
  const results = []
  for (const [name, path] of [['queue', '/queue'], ['next page', nextPage], ['case', caseOf], ['system', '/system']]) {
    const answers = []
    for (let index = 0; index < REQUESTS; index++) answers.push(await fetchPage(origin, path ?? '', cookie))
    const failed = answers.filter(({ status }) => status !== 200).length
    const times = answers.map(({ ms }) => ms)
    results.push({ page: name, p50: Math.round(percentile(times, 50)), p95: Math.round(percentile(times, 95)), failed })
  }
  console.log(`${OPEN_CASES} open cases, ${REQUESTS} requests for each page, one after the other, in ms`)
  console.table(results)
  if (results.some(({ p95, failed }) => failed > 0 || p95 > MAX_P95_MS)) process.exitCode = 1
}, { CONSOLE_PORT: '' })
