import { readdir } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { createMedia, diskStorage } from '@tandem/media-kit'
import { createImage, createPng } from '@tandem/media-kit/testing'
import { createApp, createFacts, testApp } from '../test/app.ts'
import { bearer, silentLog, testKeys } from '@tandem/http-kit/testing'

const { get, post, upload, member, createMatch, person, services, deps, folder, cdnUrl } = await testApp(t)
const image = createImage()

/** Every URL in a response. */
const urlsIn = (response: unknown): string[] =>
  [...JSON.stringify(response).matchAll(/"(https:[^"]+)"/g)].flatMap(([, url]) => url ?? [])

t.test('the photos of a matching profile identify nobody, neither by an id nor by the URL of another photo', async (t) => {
  const mains = [
    await deps.media.store('public', image, async () => {}),
    await deps.media.store('public', image, async () => {})
  ].map(({ key }) => deps.media.urlOf(key))
  const ana = await member('Mystery', { photos: mains })
  await upload(ana.id, '/fitmatch/photos', 'file', createPng())
  const [ben, cy] = [await member('Ben'), await member('Cy')]
  const matchId = await createMatch(ana, cy)
  const chatImage = { base64: createPng().toString('base64'), mimeType: 'image/png' }
  await post(ana.id, `/fitmatch/chat/${matchId}/messages`, { image: chatImage })

  const shown = await Promise.all([
    get(ben.id, '/fitmatch/discover?limit=50'),
    get(ben.id, `/fitmatch/profile/${ana.profileId}`),
    get(cy.id, '/fitmatch/matches'),
    get(cy.id, `/fitmatch/chat/${matchId}`)
  ])
  const urls = shown.flatMap(urlsIn).filter((url) => url.startsWith(cdnUrl))
  t.ok(urls.length >= 10, `${urls.length} URLs`)
  const parts = [ana, ben, cy].flatMap((
    { id, profileId }
  ) => [id, ...id.split('-').filter((part) => part.length > 4), profileId])
  for (const url of urls) {
    t.notOk(parts.some((part) => url.includes(part)), url)
    t.notOk(mains.includes(url), 'nor is it the URL of a photo of the main profile')
  }
})

t.test('changing CDN_URL changes every URL at once', async (t) => {
  const ana = await member('Ana', {
    photos: [
      deps.media.urlOf((await deps.media.store('public', image, async () => {})).key),
      'https://elsewhere.example/a.png'
    ]
  })
  const moved = await createApp({
    ...deps,
    media: createMedia({ storage: diskStorage(path.join(folder, 'media')), cdnUrl: 'https://new.example/files' })
  }, { log: silentLog, keys: testKeys })
  t.teardown(() => moved.close())
  const { data } = (await moved.inject({ url: '/fitmatch/photos', headers: bearer(ana.id) })).json()
  t.match(data.photos.map(({ url }: { url: string }) => url), [
    /^https:\/\/new\.example\/files\/public\//,
    'https://elsewhere.example/a.png'
  ])
})

t.test('photos copied for a profile that is not created are removed', async (t) => {
  const kid = person('Kid', { birthDate: '2000-01-01' })
  services.facts.set(
    kid,
    createFacts('Kid', { photos: [deps.media.urlOf((await deps.media.store('public', image, async () => {})).key)] })
  )
  const before = (await readdir(path.join(folder, 'media', 'public'))).length
  const created = await Promise.all([1, 2, 3].map(() => post(kid, '/fitmatch/profile')))
  t.strictSame(created.map(({ status }) => String(status)).sort(), ['201', '409', '409'])
  t.equal((await readdir(path.join(folder, 'media', 'public'))).length, before + 2, 'one photo with its thumbnail')
})
