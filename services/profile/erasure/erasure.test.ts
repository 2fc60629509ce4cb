import { randomUUID } from 'node:crypto'
import t from 'tap'
import { AccountRegistered } from '@tandem/contracts'
import { deliver } from '@tandem/bus-kit/testing'
import { checkErasure, checkExport, checkIndexes, checkSchema, type Seed } from '@tandem/account-kit/testing'
import { personalData } from '../personal-data.ts'
import { testApp } from '../test/app.ts'

const { db, deps: { erasure }, get, put, handlers, givenPerson } = await testApp(t)

t.test('every table of the live schema is declared', async (t) => await checkSchema(t, { db, personalData }))

t.test('an erasure reads no table as a whole', async (t) => await checkIndexes(t, { db, personalData }))

const seed: Seed = async ({ accountId: account_id, insert }) => {
  await insert('people', { account_id, username: 'ana.left' })
  for (const table of ['uploads', 'idempotency_keys', 'daily_quotas', 'hidden_people']) {
    await insert(table, { account_id })
  }
  await insert('reserved_usernames', { account_id, username: randomUUID() })
  await insert('failed_messages', { message: account_id })
}

t.test('an erasure leaves nothing of an account, and counts what it erased', async (t) => {
  await checkErasure(t, { db, erasure, personalData, seed })
})

t.test('the copy of a person has every table with their data, and nothing of anybody else', async (t) => {
  await checkExport(t, { db, erasure, personalData, seed, mayNameOther: [] })
})

t.test('a username stays taken for 90 days, and a late registration brings nobody back', async (t) => {
  const [ana, ben] = [await givenPerson(), await givenPerson()]
  t.equal((await put(ana, '/profile', { username: 'ana.was.here' })).status, 200)
  await db.insertInto('departures').values({ account_id: ana, erasure_id: randomUUID() }).execute()
  await erasure.eraseDue()
  t.match(await put(ben, '/profile', { username: 'Ana.Was.Here' }), { status: 409, code: 'USERNAME_TAKEN' })
  t.match((await get(ben, '/profile/username-available?username=ana.was.here')).data, { available: false })
  await deliver(handlers, AccountRegistered.type, { accountId: ana, name: 'Ana', usernameSeed: 'user', locale: 'en' })
  t.match((await erasure.verify(ana)).left, {})

  await db.updateTable('reserved_usernames').set({ until: new Date() }).execute()
  t.match(await put(ben, '/profile', { username: 'ana.was.here' }), { status: 200 })
})
