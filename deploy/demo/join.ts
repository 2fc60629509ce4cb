import { call } from '@tandem/rehearsals/kit/call.ts'
import { register } from '@tandem/rehearsals/kit/people.ts'
import { retry } from '@tandem/rehearsals/kit/retry.ts'
import type { Stack } from '@tandem/rehearsals/kit/stack.ts'
import { drawFace } from './faces.ts'
import { describeHistory, describeMeasurements } from './history.ts'
import { createMember, type Member } from './member.ts'
import { chooseGym } from './places.ts'
import type { Person } from './people.ts'
import { createRandom } from './random.ts'
import { sceneNames } from './scenes.ts'

export interface Home {
  countryId: string
  cityId: string
  latitude: number
  longitude: number
}

/** Where everybody lives, so that they can meet. After the first start it waits until the cities are loaded. */
export async function findHome (stack: Stack): Promise<Home> {
  type Places = { data: { id: string, name: string, code?: string }[] }
  const list = async (query: string) =>
    (await retry(async () => await call<Places>(stack, 'GET', `/locations?${query}`))).data
  const country = (await list('type=countries')).find(({ code }) => code === 'DE')
  const city = (await list('type=cities&countryCode=DE')).find(({ name }) => name === 'Berlin')
  if (!country || !city) throw new Error('Berlin is not among the places')
  return { countryId: country.id, cityId: city.id, latitude: 52.52, longitude: 13.405 }
}

export interface Joining {
  stack: Stack
  seed: string
  home: Home
  /** Signs in on a phone, and has logged every day. */
  isMain: boolean
}

/** Registers a person, completes the onboarding, and creates their FitMatch profile and their logs. */
export async function join (person: Person, { stack, seed, home, isMain }: Joining): Promise<Member> {
  await register(stack, person.email)
  const member = createMember(stack, person)
  const random = createRandom(`${seed} join ${person.name}`)
  const face = `${seed} ${person.name}`
  const photos = [
    await member.upload('/onboarding/upload-photo', drawFace(face, person.look)),
    await member.upload('/onboarding/upload-photo', drawFace(face, person.look, random.pick(sceneNames)))
  ]
  const { name, bio, look, birthDate, height, weight, sports, times } = person
  const { countryId, cityId, latitude, longitude } = home
  await member.send('POST', '/onboarding/save-profile', {
    communityRulesAccepted: true,
    name,
    bio,
    gender: look,
    birthDate,
    height,
    weight,
    photos,
    countryId,
    cityId,
    locale: 'en',
    subStep: 8,
    completed: true
  })
  await member.send('POST', '/onboarding/save-preferences', {
    motivations: ['stay_healthy', 'meet_people'],
    favoriteSports: sports,
    activityStyle: ['partner'],
    preferredAvailability: times,
    workoutFrequency: person.days.length,
    completed: true
  })
  await member.send('POST', '/onboarding/save-permissions', {
    locationEnabled: true,
    pushNotifications: true,
    latitude: latitude + (isMain ? 0 : (random.next() - 0.5) * 0.12),
    longitude: longitude + (isMain ? 0 : (random.next() - 0.5) * 0.2)
  })
  await member.send('PUT', '/profile', { username: person.username })
  await member.send('PUT', '/goals', { dailyCalories: 2_200, proteinTarget: 110, waterMl: 2_000, workoutsPerWeek: 4 })
  if (isMain) {
    await member.send('POST', '/notifications/push', {
      token: `demo-phone-of-${person.email}`,
      platform: 'ios',
      deviceId: 'demo-phone',
      deviceName: `${name}'s phone`
    })
  }
  await createProfile(member)
  await chooseGym(member, { home, isMain, random })
  await log(member, describeHistory(seed, person, { isMain, now: new Date() }))
  if (isMain) await log(member, describeMeasurements(seed, person, { now: new Date() }))
  return member
}

async function createProfile ({ person, send }: Member) {
  await send('POST', '/fitmatch/profile', {
    interestedIn: person.interests,
    fitnessGoals: person.goals,
    preferredTimes: person.times.map((time) => time.toUpperCase()),
    workoutDays: person.days,
    prompts: [{ question: 'A perfect Sunday?', answer: 'Outside, moving, then a very long breakfast.' }]
  })
}

async function log ({ send }: Member, logs: object[]) {
  for (let from = 0; from < logs.length; from += 200) {
    const items = logs.slice(from, from + 200)
    const { data } = await send<{ data: { results: { error?: string }[] } }>('POST', '/logs/batch', { items })
    const rejected = data.results.find(({ error }) => error)
    if (rejected) throw new Error(`A log was rejected: ${rejected.error}`)
  }
}
