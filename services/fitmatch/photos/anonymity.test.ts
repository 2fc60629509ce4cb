import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import { createMedia, diskStorage, type Image } from '@tandem/media-kit'
import { createPng } from '@tandem/media-kit/testing'
import { clearOld } from '../housekeeping.ts'
import { createApp, someFacts, testApp } from '../test/app.ts'
import { bearer, silentLog, testKeys } from '@tandem/service-kit/testing'

const { get, post, upload, member, matched, person, others, db, deps, folder, cdnUrl } = await testApp(t)
const image: Image = { bytes: createPng(), mimeType: 'image/webp', width: 2, height: 2 }

/** Every address in an answer. */
const addressesIn = (answer: unknown): string[] => [...JSON.stringify(answer).matchAll(/"(https:[^"]+)"/g)].flatMap(([, url]) => url ?? [])

t.test('the photos of a matching profile lead to nobody, neither by an id nor by the address of another photo', async (t) => {
  const mains = [await deps.media.store('public', image), await deps.media.store('public', image)].map(({ key }) => deps.media.urlOf(key))
  const ana = await member('Mystery', { photos: mains })
  await upload(ana.id, '/fitmatch/photos', 'file', createPng())
  const [ben, cy] = [await member('Ben'), await member('Cy')]
  const matchId = await matched(ana, cy)
  const picture = { base64: createPng().toString('base64'), mimeType: 'image/png' }
  await post(ana.id, `/fitmatch/chat/${matchId}/messages`, { image: picture })

  const shown = await Promise.all([
    get(ben.id, '/fitmatch/discover?limit=50'), get(ben.id, `/fitmatch/profile/${ana.profileId}`), get(cy.id, '/fitmatch/matches'), get(cy.id, `/fitmatch/chat/${matchId}`)
  ])
  const addresses = shown.flatMap(addressesIn).filter((url) => url.startsWith(cdnUrl))
  t.ok(addresses.length >= 10, `${addresses.length} addresses`)
  const parts = [ana, ben, cy].flatMap(({ id, profileId }) => [id, ...id.split('-').filter((part) => part.length > 4), profileId])
  for (const url of addresses) {
    t.notOk(parts.some((part) => url.includes(part)), url)
    t.notOk(mains.includes(url), 'nor is it the address of a photo of the main profile')
  }
})

t.test('a changed address of media changes every URL at once', async (t) => {
  const ana = await member('Ana', { photos: [deps.media.urlOf((await deps.media.store('public', image)).key), 'https://elsewhere.example/a.png'] })
  const moved = await createApp({ ...deps, media: createMedia({ storage: diskStorage(path.join(folder, 'media')), cdnUrl: 'https://new.example/files' }) }, { log: silentLog, keys: testKeys })
  t.teardown(() => moved.close())
  const { data } = (await moved.inject({ url: '/fitmatch/photos', headers: bearer(ana.id) })).json()
  t.match(data.photos.map(({ url }: { url: string }) => url), [/^https:\/\/new\.example\/files\/public\//, 'https://elsewhere.example/a.png'])
})

t.test('photos and pictures of before are shown under their new keys, and the files follow', async (t) => {
  const storage = diskStorage(path.join(folder, 'media'))
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  const matchId = await matched(ana, ben)
  const former = {
    own: `fitmatch/${ana.id}/${crypto.randomUUID()}.webp`,
    borrowed: `photos/${ana.id}/${crypto.randomUUID()}.webp`,
    picture: `chat/${ana.id}/${crypto.randomUUID()}.webp`
  }
  for (const key of Object.values(former)) await storage.put(key, image.bytes, 'image/webp')
  const [own, borrowed, picture] = Object.values(former).map((key) => `https://earlier.example/media/${key}`)
  const photos = await db.selectFrom('photos').where('profile_id', '=', ana.profileId).select('id').orderBy('sort_order').execute()
  await db.updateTable('photos').set({ url: own!, uploaded: true }).where('id', '=', photos[0]!.id).execute()
  await db.updateTable('photos').set({ url: borrowed!, uploaded: false }).where('id', '=', photos[1]!.id).execute()
  await db.insertInto('messages').values({ match_id: matchId, sender_id: ana.id, content: null, image_url: picture!, client_id: null, read_at: null, created_at: new Date() }).execute()
  await db.insertInto('reports').values({
    reporter_id: ben.id, reported_id: ana.id, profile_id: ana.profileId, reason: 'SPAM', details: null, action: null, note: null, resolved_at: null,
    evidence: ['https://elsewhere.example/e.png'], kept_urls: [own!, picture!],
    profile: JSON.stringify({ displayName: 'Ana', photos: [{ url: own, isMain: true }, { url: borrowed, isMain: false }] }), messages: JSON.stringify([{ imageUrl: picture }, { imageUrl: null }])
  }).execute()

  await sql.raw(await readFile(path.join(import.meta.dirname, '../migrations/009-media-keys.sql'), 'utf8')).execute(db)
  const after = Object.fromEntries(Object.entries(former).map(([name, key]) => [name, deps.media.toStoredValue(`${cdnUrl}/${key}`)]))
  t.strictSame((await get(ana.id, '/fitmatch/photos')).data.photos.map(({ url }: { url: string }) => url), [`${cdnUrl}/${after['own']}`, `${cdnUrl}/${after['borrowed']}`])
  const report = await db.selectFrom('reports').where('reported_id', '=', ana.id).select(['evidence', 'kept_urls', 'profile', 'messages']).executeTakeFirstOrThrow()
  t.strictSame(report, {
    evidence: ['https://elsewhere.example/e.png'], kept_urls: [after['own'], after['picture']],
    profile: { displayName: 'Ana', photos: [{ url: after['own'], isMain: true }, { url: after['borrowed'], isMain: false }] },
    messages: [{ imageUrl: after['picture'] }, { imageUrl: null }]
  })

  // Profile moves its own photos; a matching profile gets a copy of them once it has.
  await clearOld(deps)
  t.equal((await get(ana.id, '/fitmatch/photos')).data.photos[1].url, `${cdnUrl}/${after['borrowed']}`)
  await deps.media.moveFormer(['photos'])
  await clearOld(deps)
  for (const key of [after['own']!, after['picture']!]) t.same(await storage.find(key), image.bytes)
  for (const key of Object.values(former)) t.equal(await storage.find(key), undefined)
  const copy = (await get(ana.id, '/fitmatch/photos')).data.photos[1].url
  t.match(copy, new RegExp(`^${cdnUrl}/public/`))
  t.not(copy, `${cdnUrl}/${after['borrowed']}`)
})

t.test('what is copied for a profile that is not made does not stay', async (t) => {
  const kid = person('Kid', { birthDate: '2000-01-01' })
  others.facts.set(kid, someFacts('Kid', { photos: [deps.media.urlOf((await deps.media.store('public', image)).key)] }))
  const before = (await diskStorage(path.join(folder, 'media')).list('public/')).length
  const made = await Promise.all([1, 2, 3].map(() => post(kid, '/fitmatch/profile')))
  t.strictSame(made.map(({ status }) => String(status)).sort(), ['201', '409', '409'])
  t.equal((await diskStorage(path.join(folder, 'media')).list('public/')).length, before + 1)
})
