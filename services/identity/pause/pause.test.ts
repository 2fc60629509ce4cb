import t from 'tap'
import { runCommand } from '../operator/commands.ts'
import { testApp } from '../test/app.ts'

const { db, post, givenAccount, login, canRefresh, publishedEvents } = await testApp(t)
type Account = Awaited<ReturnType<typeof givenAccount>>

const hiddenEvents = async ({ id }: Account) =>
  (await publishedEvents(id)).filter(({ type }) => type === 'person.hidden').map(({ hidden }) => hidden)

t.test('a paused account is hidden and signed out, until the next sign-in', async (t) => {
  const account = await givenAccount()
  t.match(await post('/account/pause', undefined, { as: account }), { status: 200, message: String })
  t.notOk(await canRefresh(account))
  t.same(await hiddenEvents(account), [true])
  t.match(await login(account.email), { status: 200 })
  t.same(await hiddenEvents(account), [true, false])
  const row = await db.selectFrom('accounts').where('id', '=', account.id).select('paused_at').executeTakeFirstOrThrow()
  t.equal(row.paused_at, null)
  t.match(await login(account.email), { status: 200 })
  t.same(await hiddenEvents(account), [true, false], 'published once')
  t.match(await post('/account/pause'), { status: 401, code: 'UNAUTHORIZED' })
})

t.test('a person who is banned while paused stays hidden', async (t) => {
  const account = await givenAccount()
  await post('/account/pause', undefined, { as: account })
  await runCommand(db, {}, ['ban', account.email])
  t.match(await login(account.email), { status: 403, code: 'ACCOUNT_BANNED' })
  await runCommand(db, {}, ['unban', account.email])
  t.equal((await hiddenEvents(account)).at(-1), true, 'still paused')
  t.match(await login(account.email), { status: 200 })
  t.equal((await hiddenEvents(account)).at(-1), false)
})
