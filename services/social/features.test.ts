import t from 'tap'
import { turnOff } from '@tandem/brand-kit/testing'
import { bearer, checkFeatures } from '@tandem/http-kit/testing'
import { createFilesForm, testVideo } from '@tandem/media-kit/testing'
import { testApp } from './test/app.ts'

t.test('routes', async (t) =>
  await checkFeatures(t, {
    startApp: async (t) => (await testApp(t)).app,
    headers: bearer('01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10'),
    features: {
      stories: / \/stories/,
      polls: / \/feed\/\{id\}\/vote$/,
      video: / \/media\/uploads/
    }
  }))

const poll = { type: 'POLL', pollQuestion: 'When?', pollOptions: [{ text: 'At dawn' }, { text: 'At noon' }] }

t.test('without polls, a post cannot have one', async (t) => {
  turnOff(t, 'polls')
  const { person, post, app, publishedEvents } = await testApp(t)
  const ana = await person('Ana')
  t.match(await post(ana, '/feed', { type: 'POLL', content: 'When?' }), {
    status: 400,
    code: 'VALIDATION_ERROR',
    details: [{ field: 'type' }]
  })
  t.match(await post(ana, '/feed', { ...poll, type: 'TEXT', content: 'When?' }), {
    status: 400,
    code: 'VALIDATION_ERROR',
    error: 'pollQuestion is not available here',
    details: [{ field: 'pollQuestion' }, { field: 'pollOptions' }]
  })
  t.strictSame(await publishedEvents(), [])
  t.equal((await post(ana, '/feed', { type: 'TEXT', content: 'When?' })).status, 201)
  const { components } = (await app.inject('/openapi.json')).json()
  t.notMatch(Object.keys(components.schemas.NewPost.properties), ['pollQuestion'])
  t.notOk(components.schemas.NewPost.properties.type.enum.includes('POLL'))
})

t.test('without activities, a post cannot show one', async (t) => {
  turnOff(t, 'activities')
  const { person, post } = await testApp(t)
  const ana = await person('Ana')
  t.match(await post(ana, '/feed', { type: 'TEXT', content: 'Come', activityId: ana }), {
    status: 400,
    code: 'VALIDATION_ERROR',
    details: [{ field: 'activityId' }]
  })
  t.match(await post(ana, '/feed', { type: 'ACTIVITY', content: 'Come' }), { status: 400, code: 'VALIDATION_ERROR' })
})

t.test('without video, neither posts nor stories nor uploads take one', async (t) => {
  turnOff(t, 'video')
  const { app, person, post } = await testApp(t)
  const ana = await person('Ana')
  const mediaUrl = 'https://videos.example/a.mp4'
  const refused = { status: 400, code: 'VALIDATION_ERROR' }
  t.match(await post(ana, '/feed', { type: 'VIDEO', mediaUrls: [mediaUrl] }), {
    ...refused,
    details: [{ field: 'type' }]
  })
  t.match(await post(ana, '/stories', { mediaUrl, mediaType: 'VIDEO' }), {
    ...refused,
    details: [{ field: 'mediaType' }]
  })
  const upload = async (bytes: Buffer, type: string) => {
    const form = createFilesForm([{ field: 'file', bytes, type }])
    const response = await app.inject({
      method: 'POST',
      url: '/media',
      headers: { ...bearer(ana), ...form.headers },
      payload: form.payload
    })
    return response.json()
  }
  t.match(await upload(testVideo('phone.mov'), 'video/quicktime'), {
    success: false,
    code: 'UNSUPPORTED_MEDIA_TYPE'
  })
})
