import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { PersonChanged } from '@tandem/contracts'
import { readSample } from '@tandem/contracts/samples'
import { createMediaUrls } from '@tandem/media-url-kit'
import { readHome } from '../home/queries.ts'
import { onPersonChanged } from './consumers.ts'
import { findPerson } from './queries.ts'
import { upsertPerson } from './actions.ts'
import { testApp, water } from '../test/app.ts'

const { newUser, deps, db, setFakes } = await testApp(t)
const sample = await readSample(PersonChanged) as { accountId: string, timezone: string }
const handlers = [onPersonChanged(deps)]

t.test('the local copy provides the time zone while profile is unavailable', async (t) => {
  const { account, log, read } = newUser({ now: '2026-11-20T16:50:00Z' })
  await deliver(handlers, PersonChanged.type, { ...sample, accountId: account, timezone: 'Asia/Tokyo' })
  setFakes({ person: 'unavailable' })
  await log(water('2026-11-20T16:50:00Z'))
  t.match((await read('/logs')).logs, [{ day: '2026-11-21', timezone: 'Asia/Tokyo' }])
})

t.test('the home screen shows the copy of the picture at the current media URL while profile is unavailable', async (t) => {
  const { account } = newUser()
  const key = `public/${account}.webp`
  await deliver(handlers, PersonChanged.type, { ...sample, accountId: account, image: deps.mediaUrls.urlOf(key) })
  setFakes({ person: 'unavailable' })
  const imageAt = async (cdnUrl: string) => {
    const { user } = await readHome({ ...deps, mediaUrls: createMediaUrls(cdnUrl) }, {
      accountId: account,
      language: 'en'
    })
    return user.image
  }
  t.equal(await imageAt('https://cdn.example.com'), `https://cdn.example.com/${key}`)
  t.equal(await imageAt('https://new.example/files/'), `https://new.example/files/${key}`)
})

t.test('repeated and late events change nothing', async (t) => {
  const { account } = newUser()
  const person = { accountId: account, name: 'Ana', image: null }
  await upsertPerson(deps, { ...person, timezone: 'Asia/Tokyo' }, new Date('2026-11-20T02:00:00Z'))
  await upsertPerson(deps, { ...person, timezone: 'Asia/Jakarta' }, new Date('2026-11-20T01:00:00Z'))
  t.match(await findPerson(db, account), { timezone: 'Asia/Tokyo' })
  await upsertPerson(deps, { ...person, timezone: 'Asia/Makassar' }, new Date('2026-11-20T03:00:00Z'))
  t.match(await findPerson(db, account), { timezone: 'Asia/Makassar' })
})
