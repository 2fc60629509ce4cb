import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { handleRpc } from '@tandem/bus-kit'
import { fakeRpc } from '@tandem/bus-kit/testing'
import {
  DashboardErasureCheck,
  FitMatchErasureCheck,
  NotificationErasureCheck,
  ProfileErasureCheck,
  SocialErasureCheck
} from '@tandem/contracts'
import { readOldestDeletion } from '../metrics.ts'
import { password, testApp } from '../test/app.ts'
import { UsageError } from '@tandem/operator-kit'
import { runCommand } from './commands.ts'

const { db, get, post, givenAccount } = await testApp(t)

interface Counts {
  left: Record<string, number>
  kept: number
}
/** What each service still has of an account. */
const found: Record<string, Counts> = {}
let isUnavailable = false
const checks = [
  ProfileErasureCheck,
  SocialErasureCheck,
  FitMatchErasureCheck,
  DashboardErasureCheck,
  NotificationErasureCheck
]
const callRpc = fakeRpc(
  checks.map((rpc) => handleRpc(rpc, async () => found[rpc.service] ?? { left: {}, kept: 0 })),
  () => isUnavailable
)
const operate = async (...args: string[]) => await runCommand(db, { callRpc }, args)

async function givenErasure (fields: { status: string, erasedAt?: Date, requestedAt?: Date }) {
  const [id, accountId] = [randomUUID(), randomUUID()]
  await sql`insert into erasures (id, account_id, cause, status, erase_at, erased_at, requested_at, held_until)
    values (${id}, ${accountId}, 'OWNER', ${fields.status}, now(), ${fields.erasedAt ?? null},
      ${fields.requestedAt ?? new Date()}, ${fields.status === 'HELD' ? new Date(Date.now() + 86_400_000) : null})
  `.execute(db)
  return { id, accountId }
}

t.test('a verification counts again in every service, and says what is kept on purpose', async (t) => {
  const { id } = await givenErasure({ status: 'ERASED', erasedAt: new Date() })
  found['fitmatch'] = { left: {}, kept: 3 }
  t.same(await operate('erasures', 'verify', id), [
    { service: 'identity', kept: 0 },
    { service: 'profile', kept: 0 },
    { service: 'social', kept: 0 },
    { service: 'fitmatch', kept: 3 },
    { service: 'dashboard', kept: 0 },
    { service: 'notification', kept: 0 }
  ])
})

t.test('it fails by name if anything is left, in another service or in identity', async (t) => {
  const { id, accountId } = await givenErasure({ status: 'CLOSED', erasedAt: new Date() })
  found['social'] = { left: { posts: 2 }, kept: 0 }
  await t.rejects(operate('erasures', 'verify', id), { message: 'rows of the account are left: social.posts: 2' })
  delete found['social']
  await sql`insert into security_events (account_id, kind, detail) values (${accountId}, 'SIGN_IN', '{}')`.execute(db)
  await t.rejects(operate('erasures', 'verify', id), {
    message: 'rows of the account are left: identity.security_events: 1'
  })
})

t.test('it needs an erasure that is complete, NATS, and every service', async (t) => {
  const running = await givenErasure({ status: 'RUNNING' })
  const erased = await givenErasure({ status: 'ERASED', erasedAt: new Date() })
  for (const id of [running.id, randomUUID()]) await t.rejects(operate('erasures', 'verify', id), { code: 'NOT_FOUND' })
  await t.rejects(runCommand(db, {}, ['erasures', 'verify', erased.id]), { message: 'NATS_URL is missing' })
  await t.rejects(operate('erasures', 'verify'), new UsageError())
  isUnavailable = true
  await t.rejects(operate('erasures', 'verify', erased.id), { code: 'SERVICE_UNAVAILABLE' })
  isUnavailable = false
})

t.test('the age of the oldest deletion counts those that have not ended, without those on hold', async (t) => {
  await db.deleteFrom('erasures').execute()
  t.same(await readOldestDeletion(db), { value: 0 })
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)
  await givenErasure({ status: 'CLOSED', erasedAt: new Date(), requestedAt: daysAgo(100) })
  await givenErasure({ status: 'HELD', requestedAt: daysAgo(90) })
  await givenErasure({ status: 'SCHEDULED', requestedAt: daysAgo(2) })
  await givenErasure({ status: 'RUNNING', requestedAt: daysAgo(29) })
  t.ok(Math.abs((await readOldestDeletion(db)).value - 29 * 86_400) < 60)
})

t.test('exports that are not over are listed, the oldest first, and can be canceled once', async (t) => {
  const [ana, ben] = [await givenAccount(), await givenAccount()]
  for (const account of [ana, ben]) {
    const { data: { proof } } = await post('/account/proof', { purpose: 'EXPORT', password }, { as: account })
    t.match(await post('/account/export', { proof }, { as: account }), { status: 202 })
  }
  const list = async () => await operate('exports', 'list') as { id: string, accountId: string, status: string }[]
  t.match(await list(), [{ accountId: ana.id, status: 'PENDING' }, { accountId: ben.id, status: 'PENDING' }])
  const [{ id } = { id: '' }] = await list()
  t.equal(await operate('exports', 'cancel', id), 'The copy is canceled')
  t.match(await list(), [{ accountId: ben.id }])
  t.match(await get('/account/export', { as: ana }), { data: { export: { status: 'EXPIRED' } } })
  for (const unknown of [id, randomUUID()]) {
    await t.rejects(operate('exports', 'cancel', unknown), { code: 'NOT_FOUND' })
  }
  await t.rejects(operate('exports', 'cancel'), new UsageError())
})
