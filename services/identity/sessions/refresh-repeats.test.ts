import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { runHousekeeping } from '../housekeeping.ts'
import { inParallel, testApp } from '../test/app.ts'

const { app, db, post, get, givenAccount, canRefresh, publishedEvents } = await testApp(t)

interface Refreshed {
  status: number
  code?: string
  accessToken: string
  refreshToken: string
}

const refresh = async (refreshToken: string, key?: string): Promise<Refreshed> =>
  await post('/auth/refresh', { refreshToken }, { headers: key === undefined ? {} : { 'idempotency-key': key } })
const usedAgo = async (seconds: number, sessionId: string) =>
  await sql`update refresh_tokens set used_at = now() - make_interval(secs => ${seconds}) where session_id = ${sessionId} and used_at is not null`
    .execute(db)
const isActive = async (account: { accessToken: string, sessionId: string }) =>
  (await get('/auth/sessions', { as: account })).data.sessions.some(({ id }: { id: string }) =>
    id === account.sessionId
  )
const rejected = { status: 401, success: false, code: 'INVALID_REFRESH_TOKEN' }

t.test('the same idempotency key returns the same response again', async (t) => {
  const account = await givenAccount()
  const response = await refresh(account.refreshToken, 'k')
  t.match(response, {
    status: 200,
    success: true,
    accessToken: /^[\w-]+\.[\w-]+\.[\w-]+$/,
    refreshToken: /^[\w-]{43}$/,
    expiresIn: 900
  })
  await usedAgo(55, account.sessionId)
  t.strictSame(await refresh(account.refreshToken, 'k'), response)
  t.strictSame(await refresh(account.refreshToken, 'k'), response)
  t.match(await get('/auth/sessions', { as: response }), { status: 200 })
  t.ok(await canRefresh(response))
})

t.test('20 concurrent refreshes with the same key get the same response', async (t) => {
  for (let round = 0; round < 5; round++) {
    const account = await givenAccount()
    const { tally, results } = await inParallel(20, async () => await refresh(account.refreshToken, 'k'))
    t.strictSame(tally, { 200: 20 })
    t.equal(new Set(results.map((result) => JSON.stringify(result))).size, 1)
    const { rows } = await sql`select from refresh_tokens where session_id = ${account.sessionId}`.execute(db)
    t.equal(rows.length, 2, 'the old token and one new one')
  }
})

t.test('after the new token is used, the old token with its key counts as copied', async (t) => {
  const account = await givenAccount()
  const response = await refresh(account.refreshToken, 'k')
  const next = await refresh(response.refreshToken, 'k')
  t.equal(next.status, 200)
  t.match(await refresh(account.refreshToken, 'k'), rejected, 'a double tap at first')
  t.ok(await isActive(account))
  await usedAgo(11, account.sessionId)
  t.match(await refresh(account.refreshToken, 'k'), rejected)
  t.notOk(await isActive(account))
  t.notOk(await canRefresh(next))
  t.match((await publishedEvents(account.id)).at(-1), { type: 'sessions.ended', sessionIds: [account.sessionId] })
})

t.test('repeats concurrent with the use of the new token never create a second new token', async (t) => {
  for (let round = 0; round < 5; round++) {
    const account = await givenAccount()
    const response = await refresh(account.refreshToken, 'k')
    const { results } = await inParallel(
      8,
      async (index) =>
        index === 4 ? await refresh(response.refreshToken, 'next') : await refresh(account.refreshToken, 'k')
    )
    for (const [index, { status, ...result }] of results.entries()) {
      if (index === 4) t.equal(status, 200)
      else if (status === 200) t.match(result, { refreshToken: response.refreshToken })
      else t.equal(status, 401)
    }
    const { rows: unused } =
      await sql`select from refresh_tokens where session_id = ${account.sessionId} and used_at is null`.execute(db)
    t.equal(unused.length, 1)
  }
})

t.test('a used token with another key, or without one, counts as copied', async (t) => {
  for (const [first, second] of [['k', 'other'], ['k', undefined], [undefined, 'k']] as const) {
    const account = await givenAccount()
    const response = await refresh(account.refreshToken, first)
    t.match(await refresh(account.refreshToken, second), rejected)
    t.ok(await isActive(account), 'within ten seconds it counts as a double tap')
    await usedAgo(11, account.sessionId)
    t.match(await refresh(account.refreshToken, second), rejected)
    t.notOk(await isActive(account), `${first}, then ${second}`)
    t.notOk(await canRefresh(response))
  }
})

t.test('after a minute the same key is rejected', async (t) => {
  const account = await givenAccount()
  const response = await refresh(account.refreshToken, 'k')
  await usedAgo(61, account.sessionId)
  t.match(await refresh(account.refreshToken, 'k'), rejected)
  t.notOk(await canRefresh(response))
})

t.test('an exchange is not repeated after its session ends or its account is banned', async (t) => {
  const [ended, banned] = [await givenAccount(), await givenAccount()]
  for (const account of [ended, banned]) await refresh(account.refreshToken, 'k')
  await post('/auth/logout', {}, { as: ended })
  t.match(await refresh(ended.refreshToken, 'k'), rejected)
  await db.updateTable('accounts').set({ banned_at: new Date() }).where('id', '=', banned.id).execute()
  t.match(await refresh(banned.refreshToken, 'k'), { status: 401, code: 'REFRESH_FAILED' })
})

t.test('the same key does not return the tokens of another account', async (t) => {
  const [ana, ben] = [await givenAccount(), await givenAccount()]
  const [one, other] = [await refresh(ana.refreshToken, 'k'), await refresh(ben.refreshToken, 'k')]
  t.not(one.refreshToken, other.refreshToken)
  t.match(await refresh(randomUUID(), 'k'), rejected)
})

t.test('a process that crashes before it responds signs nobody out', async (t) => {
  const account = await givenAccount()
  const response = await refresh(account.refreshToken, 'k')
  await db.deleteFrom('refresh_responses').execute()
  const repeated = await refresh(account.refreshToken, 'k')
  t.match(repeated, { status: 200, refreshToken: response.refreshToken })
  t.match(await get('/auth/sessions', { as: repeated }), { status: 200 })
  t.strictSame(await refresh(account.refreshToken, 'k'), repeated)
})

t.test('the database has no usable token, and no response for longer than a minute', async (t) => {
  const account = await givenAccount()
  const response = await refresh(account.refreshToken, 'k')
  const { rows } = await sql<{ row: string }>`
    select refresh_tokens::text as row from refresh_tokens union all select refresh_responses::text from refresh_responses`
    .execute(db)
  const written = rows.map(({ row }) => row).join('\n')
  for (const token of [account.refreshToken, response.refreshToken, response.accessToken]) {
    t.notOk(written.includes(token))
    t.notOk(written.includes(Buffer.from(token).toString('hex')))
  }
  await sql`update refresh_responses set created_at = now() - interval '61 seconds'`.execute(db)
  await runHousekeeping(db)
  t.strictSame(await db.selectFrom('refresh_responses').select('digest').execute(), [])
  t.ok(await canRefresh(response))
})

t.test('a key has 1 to 255 characters, and the header is documented', async (t) => {
  const account = await givenAccount()
  for (const key of ['', 'x'.repeat(256)]) {
    t.match(await refresh(account.refreshToken, key), { status: 400, code: 'VALIDATION_ERROR' })
  }
  t.ok(await canRefresh(account))
  const { paths } = (await app.inject('/openapi.json')).json()
  const header = paths['/auth/refresh'].post.parameters.find(({ name }: { name: string }) => name === 'idempotency-key')
  t.match(header, { in: 'header', required: false, description: /within 60 seconds/ })
})
