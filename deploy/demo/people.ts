import type { Look } from './faces.ts'
import { createRandom } from './random.ts'

export interface Person {
  email: string
  name: string
  username: string
  look: Look
  birthDate: string
  height: number
  weight: number
  bio: string
  sports: string[]
  interests: string[]
  goals: string[]
  times: string[]
  days: string[]
}

const women =
  'Mia Aylin Sofia Nora Emma Priya Zoe Hannah Amara Yuki Clara Ines Leila Freya Maya Elena Thandi Rosa Linh Julia Ada Carmen Noor Greta Olivia Sana Ivy Teresa Keiko Paula'
    .split(' ')
const men =
  'Leo Jonas Omar Mateo Finn Kofi Daniel Arjun Lukas Hugo Tariq Noah Marco Ben Kenji Elias Rafael Samuel Anton Malik Theo Diego Oskar Ravi Luis Emil Pavel Chidi Milan'
    .split(' ')
const others = ['Robin']
const surnames =
  'Becker Okafor Lindqvist Rossi Haddad Nguyen Petrov Silva Tanaka Novak Schmidt Kaya Moreau Jensen Patel Costa Fischer Mensah Weber Ortiz'
    .split(' ')

const kinds = [
  {
    sports: ['running', 'trail_running', 'yoga'],
    interests: ['running_partner', 'friendship'],
    goals: ['ENDURANCE', 'STAY_FIT'],
    bio: 'Early runner. Coffee after, never before.'
  },
  {
    sports: ['powerlifting', 'crossfit', 'boxing'],
    interests: ['gym_buddy', 'friendship'],
    goals: ['MUSCLE_GAIN', 'STRENGTH'],
    bio: 'Chasing a 100 kg squat, one kilo at a time.'
  },
  {
    sports: ['road_cycling', 'mountain_biking', 'hiking'],
    interests: ['cycling_partner', 'hiking_partner'],
    goals: ['ENDURANCE', 'STAY_FIT'],
    bio: 'Two wheels, long roads, short breaks.'
  },
  {
    sports: ['yoga', 'pilates', 'swimming'],
    interests: ['yoga_partner', 'friendship'],
    goals: ['FLEXIBILITY', 'STAY_FIT'],
    bio: 'Stretching the truth, and my hamstrings.'
  },
  {
    sports: ['rock_climbing', 'bouldering', 'hiking'],
    interests: ['hiking_partner', 'friendship'],
    goals: ['STRENGTH', 'STAY_FIT'],
    bio: 'Always on a wall or on the way to one.'
  },
  {
    sports: ['swimming', 'rowing', 'running'],
    interests: ['running_partner', 'sports_team'],
    goals: ['WEIGHT_LOSS', 'ENDURANCE'],
    bio: 'Open water from May to October.'
  }
]
const allDays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY']

/** Sixty people. The first two are those whose sign-ins the demo prints: they have everything in common. */
export function describePeople (seed: string): Person[] {
  const names = Array.from({ length: 60 }, (_, index) =>
    index === 59
      ? { name: others[0] ?? '', look: 'OTHER' as const }
      : index % 2 === 0
      ? { name: women[index / 2] ?? '', look: 'FEMALE' as const }
      : { name: men[(index - 1) / 2] ?? '', look: 'MALE' as const })
  return names.map(({ name, look }, index) => {
    const random = createRandom(`${seed} person ${name}`)
    const isMain = index < 2
    const kind = isMain ? kinds[0]! : random.pick(kinds)
    const height = random.integer(158, 178) + (look === 'MALE' ? 10 : 0)
    return {
      email: `${name.toLowerCase()}@example.com`,
      name: `${name} ${random.pick(surnames)}`,
      username: `${name.toLowerCase()}.${random.pick(['moves', 'runs', 'trains', 'outside', 'fit'])}`,
      look,
      birthDate: `${isMain ? 1996 : random.integer(1979, 2003)}-0${random.integer(1, 9)}-1${random.integer(0, 9)}`,
      height,
      weight: Math.round((height - 100) * (0.86 + random.next() * 0.24)),
      bio: kind.bio,
      sports: kind.sports,
      interests: kind.interests,
      goals: kind.goals,
      times: isMain
        ? ['morning', 'evening']
        : random.sample(['morning', 'afternoon', 'evening', 'night', 'weekend'], 2),
      days: isMain ? ['MONDAY', 'WEDNESDAY', 'SATURDAY'] : random.sample(allDays, random.integer(2, 4))
    }
  })
}
