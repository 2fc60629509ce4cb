import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { PersonChanged } from '@tandem/contracts'
import { readSample } from '@tandem/contracts/samples'
import { onPersonChanged } from './consumers.ts'
import { findPerson } from './queries.ts'
import { upsertPerson } from './actions.ts'
import { unavailableCache, testApp, water } from '../test/app.ts'

const invalidated: string[] = []
const { newUser, deps, db, setFakes } = await testApp(t, {
  cache: {
    ...unavailableCache,
    invalidate: async (accountId) => {
      invalidated.push(accountId)
    }
  }
})
const sample = await readSample(PersonChanged) as { accountId: string, timezone: string }
const handlers = [onPersonChanged(deps)]

t.test('the local copy provides the time zone while profile is unavailable', async (t) => {
  const { account, log, read } = newUser({ now: '2026-11-20T16:50:00Z' })
  await deliver(handlers, PersonChanged.type, { ...sample, accountId: account, timezone: 'Asia/Tokyo' })
  t.same(invalidated.slice(-1), [account], 'a new time zone can change the statistics')
  setFakes({ person: 'unavailable' })
  await log(water('2026-11-20T16:50:00Z'))
  t.match((await read('/logs')).logs, [{ day: '2026-11-21', timezone: 'Asia/Tokyo' }])
})

t.test('repeated and late events change nothing', async (t) => {
  const { account } = newUser()
  const person = { accountId: account, name: 'Ana', image: null }
  await upsertPerson(db, { ...person, timezone: 'Asia/Tokyo' }, new Date('2026-11-20T02:00:00Z'))
  await upsertPerson(db, { ...person, timezone: 'Asia/Jakarta' }, new Date('2026-11-20T01:00:00Z'))
  t.match(await findPerson(db, account), { timezone: 'Asia/Tokyo' })
  await upsertPerson(db, { ...person, timezone: 'Asia/Makassar' }, new Date('2026-11-20T03:00:00Z'))
  t.match(await findPerson(db, account), { timezone: 'Asia/Makassar' })
})
