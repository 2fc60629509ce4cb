import Type from 'typebox'
import { Enum, named, Nullable, partOfFeature, Timestamp } from '@tandem/http-kit'
import { dayNames } from '../calendar.ts'
import { exampleStats, StatsSchema } from '../stats/schemas.ts'

const User = named(
  'HomeUser',
  Type.Object({
    id: Type.String(),
    name: Nullable(Type.String({ description: 'Null while no service that knows it is available' })),
    image: Nullable(Type.String()),
    email: Nullable(Type.String({ description: 'Null while identity is unavailable' })),
    level: Type.Integer(),
    totalXp: Type.Integer(),
    xpToNextLevel: Type.Integer(),
    streak: Type.Integer(),
    longestStreak: Type.Integer()
  })
)

const Workout = Nullable(
  named(
    'TodayWorkout',
    Type.Object({
      programDayId: Type.String(),
      name: Type.String(),
      isRestDay: Type.Boolean(),
      exercises: Type.Array(Type.Object({
        id: Type.String(),
        name: Type.String(),
        sets: Type.Integer(),
        repsMin: Type.Integer(),
        repsMax: Type.Integer()
      })),
      isFinished: Type.Boolean({ description: 'Whether a workout of today is logged with this programDayId' })
    })
  ),
  { description: 'Null on a rest day, on a day that is not in the active program, and without an active program' }
)

const today = () =>
  named(
    'HomeToday',
    Type.Object({
      dayOfWeek: Enum(dayNames),
      ...partOfFeature('dashboardPrograms', { workout: Workout }),
      water: Type.Object({ currentMl: Type.Integer(), targetMl: Type.Integer() }),
      steps: Type.Integer({ description: 'Each minute once, from the best source' }),
      activeEnergy: Type.Number({ description: 'In kilocalories; each minute once, from the best source' }),
      restingHeartRate: Type.Optional(Type.Number({ description: 'Left out on days without one' }))
    })
  )

const Match = named(
  'HomeMatch',
  Type.Object({
    matchId: Type.String(),
    profileId: Type.String(),
    displayName: Type.String(),
    photo: Nullable(Type.String()),
    matchedAt: Timestamp
  })
)

const Activity = named(
  'UpcomingActivity',
  Type.Object({
    id: Type.String(),
    bookingId: Type.Optional(Type.String({
      description: 'Only of a booking: its name at the system that sent it, and `id` is no activity',
      examples: ['B-1042']
    })),
    title: Type.String(),
    sport: Type.String({ description: 'Empty for a booking' }),
    date: Type.String(),
    startTime: Type.String(),
    endTime: Type.String(),
    locationName: Type.String()
  })
)

const id = (last: string) => `019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a${last}`
export const exampleHome = () => ({
  user: {
    id: id('1a'),
    name: 'Ana',
    image: 'https://cdn.example/ana.webp',
    email: 'ana@example.com',
    level: 5,
    totalXp: 1240,
    xpToNextLevel: 260,
    streak: 4,
    longestStreak: 12
  },
  today: {
    dayOfWeek: 'FRIDAY',
    ...partOfFeature('dashboardPrograms', {
      workout: {
        programDayId: id('1b'),
        name: 'Legs',
        isRestDay: false,
        exercises: [{ id: id('1c'), name: 'Squat', sets: 4, repsMin: 6, repsMax: 8 }],
        isFinished: false
      }
    }),
    water: { currentMl: 1250, targetMl: 2000 },
    steps: 8412,
    activeEnergy: 421.5,
    restingHeartRate: 56
  },
  stats: exampleStats,
  ...partOfFeature('fitmatch', {
    fitmatch: { hasProfile: true, status: 'ACTIVE', discoverTutorialSeen: true },
    matches: [{
      matchId: id('1d'),
      profileId: id('1e'),
      displayName: 'Ben',
      photo: null,
      matchedAt: '2026-11-19T08:00:00.000Z'
    }]
  }),
  upcomingActivities: [{
    id: id('1f'),
    title: 'Evening run',
    sport: 'running',
    date: '2026-11-28',
    startTime: '18:00',
    endTime: '19:30',
    locationName: 'Gelora'
  }],
  profileCompletion: 80
})

/** Call it when routes are added: parts of it belong to features of the brand. */
export const home = () =>
  named(
    'Home',
    Type.Object({
      user: User,
      today: today(),
      stats: StatsSchema,
      ...partOfFeature('fitmatch', {
        fitmatch: Type.Object({
          hasProfile: Type.Boolean(),
          status: Nullable(Enum(['ACTIVE', 'PAUSED', 'SUSPENDED'])),
          discoverTutorialSeen: Type.Boolean()
        }),
        matches: Type.Array(Match, { description: 'The newest ten' })
      }),
      upcomingActivities: Type.Array(Activity, {
        description: 'The next ten of the coming 14 days that the person goes to, with their bookings at other systems'
      }),
      profileCompletion: Nullable(Type.Integer({ description: '0 to 100; null while profile is unavailable' }))
    }, { examples: [exampleHome()] })
  )
