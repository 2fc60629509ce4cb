import type { Person } from './people.ts'
import { createRandom, type Random } from './random.ts'
import { meals, workouts } from './texts.ts'

const DAYS = 56
const HOUR_MS = 60 * 60_000
const DAY_MS = 24 * HOUR_MS

interface Log {
  clientId: string
  type: string
  at: string
  data: object
}

/** What the phone and the watch of a person measured on the last days: steps that both count, energy, heart rates. */
export function describeMeasurements (seed: string, person: Person, { now }: { now: Date }) {
  const random = createRandom(`${seed} measurements ${person.name}`)
  const watch = { platform: 'HEALTHKIT', kind: 'WATCH', device: 'Apple Watch' }
  const phone = { platform: 'HEALTH_CONNECT', kind: 'PHONE', device: 'Pixel' }
  return Array.from({ length: DAYS }, (_, daysAgo) => {
    const midnight = Math.floor(now.getTime() / DAY_MS) * DAY_MS - daysAgo * DAY_MS
    const at = (hour: number) => new Date(Math.min(midnight + hour * HOUR_MS, now.getTime())).toISOString()
    const item = (type: string, source: object, [start, end]: [number, number], data: object) => ({
      externalId: `demo ${type} ${daysAgo} ${start}`,
      type,
      source,
      startAt: at(start),
      endAt: at(end),
      data
    })
    const steps = random.integer(1_200, 3_400)
    return [
      item('STEPS', watch, [0, 4], { count: steps }),
      item('STEPS', phone, [0, 4], { count: Math.round(steps * 1.07) }),
      item('STEPS', phone, [5, 10], { count: random.integer(1_500, 5_000) }),
      item('ACTIVE_ENERGY', watch, [0, 10], { kcal: random.integer(280, 620) }),
      item('DISTANCE', phone, [0, 10], { meters: random.integer(3_000, 9_000) }),
      item('HEART_RATE', watch, [0, 0], { resting: random.integer(52, 58) })
    ]
  }).flat()
}

/** Eight weeks of logs, oldest first: workouts that become heavier, meals, water, sleep and weight. */
export function describeHistory (seed: string, person: Person, { isMain, now }: { isMain: boolean, now: Date }): Log[] {
  const random = createRandom(`${seed} history ${person.name}`)
  const diligence = isMain ? 0.95 : 0.35 + random.next() * 0.4
  return Array.from({ length: DAYS }, (_, index) => DAYS - 1 - index).flatMap((daysAgo) => {
    const at = (hour: number) => {
      const time = new Date(now.getTime() - daysAgo * DAY_MS)
      time.setUTCHours(hour, random.integer(0, 59))
      // Nobody has logged what is still to come today.
      return new Date(Math.min(time.getTime(), now.getTime())).toISOString()
    }
    const day = describeDay(random, person, { week: Math.floor((DAYS - 1 - daysAgo) / 7), daysAgo, diligence, isMain })
    return day.map(({ hour, type, data }, index) => ({
      clientId: `demo-${daysAgo}-${index}`,
      type,
      at: at(hour),
      data
    }))
  })
}

interface Day {
  week: number
  daysAgo: number
  diligence: number
  isMain: boolean
}

function describeDay (random: Random, person: Person, { week, daysAgo, diligence, isMain }: Day) {
  const logs: { hour: number, type: string, data: object }[] = []
  if (isMain ? daysAgo % 7 !== 3 && random.chance(0.7) || daysAgo === 0 : random.chance(diligence * 0.6)) {
    logs.push({ hour: random.integer(6, 17), type: 'WORKOUT', data: describeWorkout(random, person, week) })
  }
  if (daysAgo % 7 === 0) {
    logs.push({ hour: 6, type: 'WEIGHT', data: { kg: Math.round((person.weight - week * 0.3) * 10) / 10 } })
  }
  if (!isMain && daysAgo > 13) return logs
  if (random.chance(diligence)) {
    logs.push({ hour: 5, type: 'SLEEP', data: { minutes: random.integer(380, 520), quality: random.integer(3, 5) } })
  }
  for (const hour of [7, 11, 16]) {
    if (random.chance(diligence)) logs.push({ hour, type: 'WATER', data: { ml: random.integer(5, 8) * 100 } })
    const [name, calories, protein] = random.pick(meals)
    if (random.chance(diligence)) logs.push({ hour, type: 'FOOD', data: { name, calories, protein } })
  }
  return logs
}

function describeWorkout (random: Random, { weight }: Person, week: number) {
  const title = random.pick(Object.keys(workouts) as (keyof typeof workouts)[])
  const exercises = workouts[title].map((name, index) => ({
    name,
    sets: [8, 6, 5].map((reps, set) => ({
      reps,
      weightKg: Math.round((weight * (0.5 + index * 0.1 + set * 0.05) + week * 1.5) / 2.5) * 2.5
    }))
  }))
  return { title, durationMinutes: random.integer(25, 75), ...(exercises.length > 0 && { exercises }) }
}
