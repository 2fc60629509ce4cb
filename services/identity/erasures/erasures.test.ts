import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { checkErasure, checkIndexes, checkSchema } from '@tandem/account-kit/testing'
import { PersonChanged } from '@tandem/contracts'
import { until } from '@tandem/test-kit'
import { runCommand } from '../operator/commands.ts'
import { personalData } from '../personal-data.ts'
import { holdErasure, releaseErasure } from '../operator/erasures.ts'
import { password, testApp } from '../test/app.ts'
import { seed } from '../test/personal-data.ts'
import { beginDueErasures, cancelErasure, repeatUnconfirmed, replayLedger, scheduleErasure } from './actions.ts'
import { otherServices } from './queries.ts'
import { handleHiddenOrErased } from './rpc.ts'

const app = await testApp(t)
const { db, deps, handlers, givenAccount, get, post, login, mailsTo, publishedEvents } = app
const { erasure } = deps
const operate = async (...args: string[]) => await runCommand(db, { ledger: deps.ledger }, args)

const schedule = async (id: string, graceDays?: number) =>
  await db.transaction().execute(async (trx) =>
    await scheduleErasure(trx, { id }, { cause: 'OPERATOR', ...(graceDays !== undefined && { graceDays }) })
  )
const makeDue = async (id: string) => await sql`update erasures set erase_at = now() where id = ${id}`.execute(db)
const statusOf = async (id: string) =>
  (await db.selectFrom('erasures').where('id', '=', id).select('status').executeTakeFirst())?.status
const confirm = async (
  erasureId: string,
  accountId: string,
  sweepsLeft = 4,
  services: readonly string[] = otherServices
) => {
  for (const service of services) {
    const rows = { things: 2 }
    await deliver(handlers, `${service}.account.erased.v1`, {
      erasureId,
      accountId,
      rows,
      files: 1,
      kept: 0,
      sweepsLeft
    })
  }
}
/** From the request to the end. */
const erase = async (t: Test, accountId: string) => {
  const { id } = await schedule(accountId)
  await makeDue(id)
  await beginDueErasures(deps)
  await confirm(id, accountId)
  await erasure.eraseDue()
  t.equal(await statusOf(id), 'ERASED')
}

t.test('every table of the live schema is declared', async (t) => await checkSchema(t, { db, personalData }))

t.test('an erasure reads no table as a whole', async (t) => await checkIndexes(t, { db, personalData }))

t.test('an erasure leaves nothing of an account but its id and date, and counts what it erased', async (t) => {
  await checkErasure(t, {
    db,
    erasure,
    personalData,
    // The receipt is still to be sent.
    mayNameIt: ['mails'],
    seed
  })
})

t.test('an erasure begins when it is due, and ends when every service and identity itself are done', async (t) => {
  const { id: accountId, email } = await givenAccount()
  const { id } = await schedule(accountId)
  t.match(await login(email), { success: false }, 'nobody signs in meanwhile')
  await beginDueErasures(deps)
  t.equal(await statusOf(id), 'SCHEDULED', 'no access token may live when it begins')
  await makeDue(id)
  await beginDueErasures(deps)
  await beginDueErasures(deps)
  t.equal(await statusOf(id), 'RUNNING')
  t.match((await deps.ledger.list()).filter((entry) => entry.accountId === accountId), [{ erasureId: id }])
  const erasing = (await publishedEvents(accountId)).filter(({ type }) => type === 'account.erasing')
  t.same(erasing, [{ type: 'account.erasing', erasureId: id, accountId }], 'it is published once')

  await confirm(id, accountId, 4, otherServices.slice(1))
  await erasure.eraseDue()
  t.equal(await statusOf(id), 'RUNNING', 'one service has not confirmed')
  t.ok(await db.selectFrom('accounts').where('email', '=', email).select('id').executeTakeFirst())
  await confirm(id, accountId)
  await erasure.eraseDue()
  t.equal(await statusOf(id), 'ERASED')
  t.match(await mailsTo(email), [{ subject: 'Your Tandem account is deleted' }])
  t.match(await post('/auth/register', { email, password }), { status: 201 }, 'the address is free')
  await deliver(handlers, PersonChanged.type, {
    accountId,
    name: 'Ana',
    username: 'ana',
    image: 'https://cdn.example.com/a.webp',
    bio: null,
    locale: 'id',
    timezone: 'Asia/Jakarta'
  })
  t.match(
    await db.selectFrom('accounts').where('id', '=', accountId).select(['name', 'image', 'locale']).executeTakeFirst(),
    { name: '', image: null, locale: 'en' },
    'an event that arrives late brings nothing back'
  )

  await confirm(id, accountId, 0)
  await sql`update departures set passes = 4, next_pass_at = now() where account_id = ${accountId}`.execute(db)
  await erasure.eraseDue()
  await sql`update departures set next_pass_at = now() where account_id = ${accountId} and next_pass_at is not null`
    .execute(db)
  await erasure.eraseDue()
  t.equal(await statusOf(id), 'CLOSED')
  t.match((await get(`/account/deletions/${id}`)).data.deletion, {
    status: 'CLOSED',
    inTransitUntil: null,
    services: { social: { rows: { things: 2 }, files: 1, kept: 0 }, identity: { rows: { accounts: 1, sessions: 1 } } }
  }, 'the receipt')
  t.match(await operate('erasures', 'show', id), [{ status: 'CLOSED' }, { service: 'dashboard', files: 1 }])
})

t.test('a restriction ends with the account: nothing is published about it afterwards', async (t) => {
  const { id: accountId } = await givenAccount()
  await sql`update accounts set restricted_until = now() + interval '1 hour' where id = ${accountId}`.execute(db)
  await erase(t, accountId)
  t.match(
    await db.selectFrom('accounts').where('id', '=', accountId).select('restricted_until').executeTakeFirst(),
    { restricted_until: null }
  )
})

t.test('a receipt can be read while a release adds a column', async (t) => {
  const { id } = await schedule((await givenAccount()).id)
  t.match(await get(`/account/deletions/${id}`), { status: 200 })
  await sql`alter table erasures add column of_the_next_release text`.execute(db)
  // As many connections as the pool has.
  for (let times = 0; times < 10; times++) t.match(await get(`/account/deletions/${id}`), { status: 200 })
  await sql`alter table erasures drop column of_the_next_release`.execute(db)
})

t.test('signing in never cancels a deletion; its token does, until the deletion begins', async (t) => {
  const { id: accountId, email } = await givenAccount()
  const { id, eraseAt } = await schedule(accountId, 14)
  const pending = await login(email)
  t.match(pending, {
    status: 403,
    success: false,
    code: 'ACCOUNT_DELETION_PENDING',
    eraseAt: eraseAt.toISOString(),
    restoreToken: String
  })
  t.equal(await statusOf(id), 'SCHEDULED')
  t.match(await get(`/account/deletions/${id}`), { status: 200, data: { deletion: { id, status: 'SCHEDULED' } } })
  for (const restoreToken of ['x', `${pending.restoreToken}x`.slice(1)]) {
    t.match(await post('/account/deletion/cancel', { restoreToken }), { status: 400, code: 'INVALID_TOKEN' })
  }
  const restored = await post('/account/deletion/cancel', { restoreToken: pending.restoreToken })
  t.match(restored, { status: 200, user: { email } })
  t.equal((await get('/auth/sessions', { as: restored })).status, 200)
  t.match(await post('/account/deletion/cancel', { restoreToken: pending.restoreToken }), {
    status: 400,
    code: 'INVALID_TOKEN'
  }, 'a token cancels one deletion, once')
  const hidden = (await publishedEvents(accountId)).filter(({ type }) => type === 'person.hidden')
  t.match(hidden, [{ hidden: true }, { hidden: false }])
  t.equal((await login(email)).status, 200)

  const second = await schedule(accountId)
  const { restoreToken } = await login(email)
  await makeDue(second.id)
  t.match(await post('/account/deletion/cancel', { restoreToken }), { status: 410, code: 'DELETION_BEGUN' })
  t.match(await get(`/account/deletions/${randomUUID()}`), { status: 404, code: 'NOT_FOUND' })
})

t.test('a crash after the ledger is written loses nothing', async (t) => {
  const { id: accountId } = await givenAccount()
  const { id } = await schedule(accountId)
  await makeDue(id)
  const ledger = {
    ...deps.ledger,
    async add (entry: Parameters<typeof deps.ledger.add>[0]) {
      await deps.ledger.add(entry)
      if (entry.accountId === accountId) throw new Error('killed')
    }
  }
  await t.rejects(beginDueErasures({ db, ledger }), { message: 'killed' })
  t.equal(await statusOf(id), 'SCHEDULED')
  await beginDueErasures(deps)
  t.equal(await statusOf(id), 'RUNNING')
})

t.test('the ledger is replayed between its entry and the beginning: the erasure goes on with what it has to revoke', async (t) => {
  const { id: accountId } = await givenAccount()
  const { id } = await schedule(accountId)
  const revocation = { erasure_id: id, provider: 'PROVIDER_A' as const, token: Buffer.from('x') }
  await db.insertInto('provider_revocations').values(revocation).execute()
  await makeDue(id)
  const ledger = {
    ...deps.ledger,
    async add (entry: Parameters<typeof deps.ledger.add>[0]) {
      await deps.ledger.add(entry)
      await replayLedger(deps)
    }
  }
  await beginDueErasures({ db, ledger })
  t.match(
    await db.selectFrom('erasures').where('account_id', '=', accountId).select(['id', 'cause', 'status']).execute(),
    [
      { id, cause: 'OPERATOR', status: 'RUNNING' }
    ]
  )
  t.match(await db.selectFrom('provider_revocations').where('erasure_id', '=', id).select('provider').execute(), [
    { provider: 'PROVIDER_A' }
  ])
})

t.test('a hold and the beginning at the same moment: the first one wins, and a hold that ends lets it begin', async (t) => {
  const waiting = async () =>
    (await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      .execute(db)).rows.length
  const hold = { reason: 'a court', days: 30 }
  const { id } = await schedule((await givenAccount()).id)
  await makeDue(id)
  let beginning: Promise<unknown> | undefined
  await db.transaction().execute(async (trx) => {
    await holdErasure(trx, id, hold)
    beginning = beginDueErasures(deps)
    await until(async () => await waiting() === 1)
  })
  await beginning
  t.equal(await statusOf(id), 'HELD')
  await beginDueErasures(deps)
  t.equal(await statusOf(id), 'HELD')
  t.notOk((await deps.ledger.list()).some(({ erasureId }) => erasureId === id))
  await releaseErasure(db, id)
  await beginDueErasures(deps)
  t.equal(await statusOf(id), 'RUNNING')

  const { id: begun } = await schedule((await givenAccount()).id)
  let holding: Promise<unknown> | undefined
  await db.transaction().execute(async (trx) => {
    // As the beginning claims it, before it writes the ledger.
    await sql`update erasures set begun_at = now() where id = ${begun}`.execute(trx)
    holding = holdErasure(db, begun, hold)
    holding.catch(() => {})
    await until(async () => await waiting() === 1)
  })
  await t.rejects(holding!, { code: 'NOT_FOUND' })
  t.equal(await statusOf(begun), 'SCHEDULED')
})

t.test('what no service has confirmed for ten minutes is published again', async (t) => {
  const { id: accountId } = await givenAccount()
  const { id } = await schedule(accountId)
  await makeDue(id)
  await beginDueErasures(deps)
  await repeatUnconfirmed(db)
  const published = async () =>
    (await publishedEvents(accountId)).filter(({ type }) => type === 'account.erasing').length
  t.equal(await published(), 1)
  await sql`update erasures set announced_at = now() - interval '11 minutes' where id = ${id}`.execute(db)
  await Promise.all([repeatUnconfirmed(db), repeatUnconfirmed(db)])
  t.equal(await published(), 2)
})

t.test('an erasure that cannot be published again keeps no other from it', async (t) => {
  const erasures = await Promise.all([1, 2, 3].map(async () => {
    const { id: accountId } = await givenAccount()
    return { ...await schedule(accountId), accountId }
  }))
  for (const { id } of erasures) await makeDue(id)
  await beginDueErasures(deps)
  await sql`update erasures set announced_at = now() - interval '11 minutes' where status = 'RUNNING'`.execute(db)
  await sql`alter table erasures add constraint broken check (id <> ${sql.lit(erasures[0]!.id)}) not valid`.execute(db)
  await t.rejects(repeatUnconfirmed(db), { code: '23514' })
  await sql`alter table erasures drop constraint broken`.execute(db)
  const published = async () =>
    await Promise.all(
      erasures.map(async ({ accountId }) =>
        (await publishedEvents(accountId)).filter(({ type }) => type === 'account.erasing').length
      )
    )
  t.same(await published(), [1, 2, 2])
  await repeatUnconfirmed(db)
  t.same(await published(), [2, 2, 2])
})

t.test('a restored backup does not bring an account back', async (t) => {
  const { id: accountId, email } = await givenAccount()
  const row = await db.selectFrom('accounts').where('id', '=', accountId).selectAll().executeTakeFirstOrThrow()
  const { id } = await schedule(accountId)
  await makeDue(id)
  await beginDueErasures(deps)
  t.equal(await replayLedger(deps), 0, 'a running erasure is not begun again')
  await confirm(id, accountId)
  await erasure.eraseDue()
  t.equal(await replayLedger(deps), 0, 'nothing to do')

  // The backup is from before the request: the account is there, and the erasure unknown.
  for (const table of ['erasures', 'departures'] as const) {
    await db.deleteFrom(table).where('account_id', '=', accountId).execute()
  }
  await db.updateTable('accounts').set(row).where('id', '=', accountId).execute()
  t.match(await login(email), { status: 200 })
  t.match(await operate('erasures', 'replay'), '1 erasures run again')
  t.equal(await statusOf(id), 'RUNNING')
  const { departures: named } = await handleHiddenOrErased(deps).handle({ after: null }) as { departures: object[] }
  t.match(named.filter((each) => 'accountId' in each && each.accountId === accountId), [{ erasureId: id }])
  await confirm(id, accountId)
  await erasure.eraseDue()
  t.equal(await statusOf(id), 'ERASED')
  t.match(await login(email), { status: 401, code: 'INVALID_CREDENTIALS' })
})

t.test('an erasure can be held and released until it begins', async (t) => {
  const { email } = await givenAccount()
  t.match(await operate('erasures', 'request', email, '1'), /will be erased at/)
  const erasure = await db.selectFrom('erasures').innerJoin('accounts', 'accounts.id', 'account_id')
    .where('email', '=', email).select('erasures.id').executeTakeFirstOrThrow()
  await t.rejects(operate('erasures', 'request', email), { code: 'DELETION_PENDING' })
  t.match(await operate('erasures', 'hold', erasure.id, '30', 'court', 'order'), 'The deletion is held')
  await makeDue(erasure.id)
  await beginDueErasures(deps)
  t.match((await operate('erasures', 'list') as { id: string }[]).find(({ id }) => id === erasure.id), {
    status: 'HELD',
    holdReason: 'court order'
  })
  t.match(await operate('erasures', 'release', erasure.id), 'The deletion goes on')
  await beginDueErasures(deps)
  t.equal(await statusOf(erasure.id), 'RUNNING')
  await t.rejects(operate('erasures', 'hold', erasure.id, '30', 'late'), { code: 'NOT_FOUND' })
})

t.test('of a cancel and the begin at the same moment exactly one wins, and the ledger names nobody who stays', async (t) => {
  const seen = { canceled: 0, begun: 0 }
  for (let round = 0; round < 100; round++) {
    const { id: accountId } = await givenAccount({ hasPassword: false })
    const { id } = await schedule(accountId)
    await sql`update erasures set erase_at = clock_timestamp() + ${
      round % 5
    } * interval '1 millisecond' where id = ${id}`
      .execute(db)
    const [canceled] = await Promise.all([
      db.transaction().execute(async (trx) => await cancelErasure(trx, accountId, id)).then(() => true, () => false),
      beginDueErasures(deps)
    ])
    await beginDueErasures(deps)
    const isInLedger = (await deps.ledger.list()).some((entry) => entry.accountId === accountId)
    t.equal(await statusOf(id), canceled ? 'CANCELED' : 'RUNNING')
    t.equal(isInLedger, !canceled)
    seen[canceled ? 'canceled' : 'begun']++
  }
  t.ok(seen.canceled > 0 && seen.begun > 0, JSON.stringify(seen))
})

t.test('a ban survives the erasure: neither address, tag nor case make a new account', async (t) => {
  const name = `ban-${randomUUID()}`
  for (const email of [`${name}+a@example.com`, `${name}+a@gmail.com`]) {
    const { id: accountId } = await givenAccount({ email })
    await operate('ban', email)
    await erase(t, accountId)
  }
  for (
    const email of [
      `${name}@example.com`,
      `${name}+a@example.com`,
      `${name}+b@example.com`,
      `${name.toUpperCase()}@example.com`,
      `${name}@gmail.com`,
      `${name.replace('ban', 'b.a.n')}@gmail.com`,
      `${name.replace('ban', 'b.an')}+b@googlemail.com`
    ]
  ) {
    t.match(await post('/auth/register', { email, password }), { status: 409, code: 'EMAIL_EXISTS' }, email)
  }
  for (const email of [`${name}2@example.com`, `${name.replace('ban', 'b.an')}@example.com`]) {
    t.match(await post('/auth/register', { email, password }), { status: 201 }, 'another mailbox')
  }
  t.notMatch(JSON.stringify(await db.selectFrom('remembered').selectAll().execute()), name)
})

t.test('a suspension goes on in a new account of the same mailbox or provider, unless it was lifted', async (t) => {
  const name = `suspended-${randomUUID()}`
  const suspend = async (accountId: string, suspended: boolean, at = new Date()) =>
    await deliver(handlers, 'fitmatch.suspension.changed.v1', { accountId, suspended }, { at })
  const continued = async (accountId: string) =>
    (await publishedEvents(accountId)).filter(({ type }) => type === 'suspension.continued').length
  const register = async (email: string) => (await post('/auth/register', { email, password })).user.id as string

  const first = await givenAccount({ email: `${name}+a@example.com` })
  await suspend(first.id, true, new Date())
  await suspend(first.id, false, new Date(Date.now() - 60_000))
  await erase(t, first.id)
  const second = await register(`${name.toUpperCase()}@example.com`)
  t.equal(await continued(second), 1, 'with another tag and case, after a late event')
  t.equal(await continued(await register(`${name}2@example.com`)), 0, 'others are not affected')

  await suspend(second, false, new Date(Date.now() + 60_000))
  await db.deleteFrom('remembered').execute()
  await erase(t, second)
  t.equal(await continued(await register(`${name}@example.com`)), 0, 'lifted')
})
