import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { call } from './call.ts'
import { becomeMember } from './people.ts'
import { pictureForm, plainPng } from './pictures.ts'
import { retry } from './retry.ts'
import type { Stack } from './stack.ts'
import { upload } from './upload.ts'

export interface Person {
  id: string
  email: string
  password: string
  token: string
  username: string
  postId: string
  /** Repeats the request while a process is unavailable, with the same idempotency key. */
  send: <Data>(method: string, route: string, body?: object) => Promise<Data>
}

interface Created {
  data: { post: { id: string } }
}

/** Registers a person with a profile, two photos, a post with a picture, logs, and a phone for pushes. */
export async function settle (stack: Stack, name: string): Promise<Person> {
  const email = `${name}@example.com`
  const { accessToken: token, password } = await becomeMember(stack, email)
  const send: Person['send'] = async (method, route, body) => {
    const key = randomUUID()
    return await retry(async () => await call(stack, method, route, { token, key, ...(body && { body }) }))
  }
  const picture = pictureForm(await plainPng({ width: 400, height: 400, bits: 8 }))
  const uploadPicture = async (route: string) => await retry(async () => await upload(stack, route, picture, { token }))
  const photos = [await uploadPicture('/onboarding/upload-photo'), await uploadPicture('/onboarding/upload-photo')]
  await send('POST', '/onboarding/save-profile', {
    communityRulesAccepted: true,
    name,
    gender: 'FEMALE',
    birthDate: '1995-05-05',
    photos,
    locale: 'en',
    subStep: 8,
    completed: true
  })
  await send('POST', '/onboarding/save-preferences', { favoriteSports: ['running'], completed: true })
  await send('POST', '/onboarding/save-permissions', {
    locationEnabled: true,
    pushNotifications: true,
    latitude: 52.5,
    longitude: 13.4
  })
  await send('PUT', '/profile', { username: name })
  await send('POST', '/fitmatch/profile', {
    interestedIn: ['running_partner'],
    fitnessGoals: ['STAY_FIT'],
    preferredTimes: ['MORNING'],
    workoutDays: ['MONDAY']
  })
  await send('POST', '/notifications/push', {
    token: `phone-of-${name}`,
    platform: 'ios',
    deviceId: `phone-of-${name}`
  })
  const at = new Date().toISOString()
  await send('POST', '/logs/batch', {
    items: [
      { clientId: '1', type: 'WATER', at, data: { ml: 500 } },
      { clientId: '2', type: 'WORKOUT', at, data: { title: name, durationMinutes: 30 } }
    ]
  })
  const { data: { post } } = await send<Created>('POST', '/feed', {
    type: 'IMAGE',
    content: `The post of ${name} #running`,
    mediaUrls: [await uploadPicture('/media')],
    mediaType: 'image/png'
  })
  const { user } = await send<{ user: { id: string } }>('GET', '/auth/me')
  return { id: user.id, email, password, token, username: name, postId: post.id, send }
}

/** What a person to erase and one who stays do to each other. @returns the comments, which are erased too */
export async function meet (erased: Person, staying: Person) {
  const comments: string[] = []
  for (const [one, other] of [[erased, staying], [staying, erased]] as const) {
    await one.send('POST', `/users/${other.id}/follow`)
    await one.send('POST', `/feed/${other.postId}/like`)
    const content = `@${other.username}, this is ${one.username}`
    const { data } = await one.send<{ data: { comment: { id: string } } }>('POST', `/feed/${other.postId}/comment`, {
      content
    })
    comments.push(data.comment.id)
  }
  return comments
}

/** Writes of somebody who stays, while processes are killed. */
export interface Written {
  posts: Map<string, 'acknowledged' | 'unknown'>
  acknowledgedComments: string[]
}

/** Posts, and comments on posts that are being erased, until `goesOn` says no. */
export async function keepWriting (author: Person, erased: Person[], written: Written, goesOn: () => boolean) {
  for (let turn = 0; goesOn(); turn++) {
    const content = `${author.username} writes ${turn}`
    written.posts.set(content, 'unknown')
    await author.send<Created>('POST', '/feed', { type: 'TEXT', content })
      .then(() => written.posts.set(content, 'acknowledged'), () => {})
    const { postId } = erased[turn % erased.length]!
    // Refused once the author is hidden, and with 503 while a process is down.
    await author.send('POST', `/feed/${postId}/comment`, { content: `late ${turn}` }).catch(() => {})
    const comment = `${author.username} comments ${turn}`
    await author.send('POST', `/feed/${author.postId}/comment`, { content: comment })
      .then(() => written.acknowledgedComments.push(comment), () => {})
    await sleep(100)
  }
}
