import t from 'tap'
import { turnOff } from '@tandem/brand-kit/testing'
import { MessageSent } from '@tandem/contracts'
import { bearer, checkFeatures } from '@tandem/http-kit/testing'
import { createPng } from '@tandem/media-kit/testing'
import { testApp, type Member } from './test/app.ts'

t.test('routes', async (t) =>
  await checkFeatures(t, {
    startApp: async (t) => (await testApp(t)).app,
    headers: bearer('01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10'),
    features: {
      // Nobody takes part in an activity without a profile.
      fitmatch: / \/(fitmatch|buddies|venues|activities)/,
      activities: / \/activities/
    }
  }))

t.test('without chat images, a message has none', async (t) => {
  turnOff(t, 'chatImages')
  const { app, post, member, createMatch, publishedEvents } = await testApp(t)
  const [ana, ben] = await Promise.all([member('Ana'), member('Ben')]) as [Member, Member]
  const url = `/fitmatch/chat/${await createMatch(ana, ben)}/messages`
  const before = (await publishedEvents(MessageSent)).length
  const image = { base64: createPng(8, 8).toString('base64'), mimeType: 'image/png' }
  t.match(await post(ana.id, url, { content: 'Look', image }), {
    status: 400,
    code: 'VALIDATION_ERROR',
    error: 'image is not available here',
    details: [{ field: 'image' }]
  })
  t.equal((await publishedEvents(MessageSent)).length, before)
  t.equal((await post(ana.id, url, { content: 'Look' })).status, 201)
  t.notOk((await app.inject('/openapi.json')).body.includes('base64'), 'the document lacks the field')
})
