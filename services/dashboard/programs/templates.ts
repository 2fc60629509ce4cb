import type { NewProgram } from './actions.ts'

interface Template extends NewProgram {
  id: string
  description: string
}

type Plan = [exercise: string, sets: number, repsMin: number, repsMax: number]

// An exercise is an id of the library, or the name of one that it lacks.
const day = (dayOfWeek: number, name: string, plans: Plan[]) => ({
  dayOfWeek,
  name,
  isRestDay: false,
  exercises: plans.map(([exercise, sets, repsMin, repsMax]) => ({
    ...exercise.includes(' ') ? { name: exercise } : { exerciseId: exercise },
    sets,
    repsMin,
    repsMax
  }))
})

const [MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY] = [1, 2, 3, 4, 5, 6]
const [SQUAT, BENCH_PRESS, DEADLIFT, ROW, PRESS] = [
  'Barbell_Squat',
  'Barbell_Bench_Press_-_Medium_Grip',
  'Barbell_Deadlift',
  'Bent_Over_Barbell_Row',
  'Standing_Military_Press'
]

const push: Plan[] = [
  [BENCH_PRESS, 4, 6, 8],
  [PRESS, 3, 8, 10],
  ['Incline_Dumbbell_Press', 3, 8, 12],
  ['Side_Lateral_Raise', 3, 12, 15],
  ['Triceps_Pushdown', 3, 10, 12]
]
const pull: Plan[] = [
  ['Pullups', 4, 5, 8],
  [ROW, 3, 8, 10],
  ['Wide-Grip_Lat_Pulldown', 3, 10, 12],
  ['Face_Pull', 3, 12, 15],
  ['Barbell_Curl', 3, 8, 12]
]
const legs: Plan[] = [
  [SQUAT, 4, 6, 8],
  ['Romanian_Deadlift', 3, 8, 10],
  ['Leg_Press', 3, 10, 12],
  ['Lying_Leg_Curls', 3, 10, 12],
  ['Standing_Calf_Raises', 4, 12, 15]
]
const upper: Plan[] = [...push.slice(0, 2), ...pull.slice(0, 2), ['Barbell_Curl', 3, 10, 12]]
const mobility: Plan[] = [
  ['Cat_Stretch', 2, 10, 10],
  ['Worlds_Greatest_Stretch', 2, 5, 5],
  ['90_90_Hamstring', 2, 8, 8],
  ['Childs_Pose', 2, 5, 5]
]

/** Programs to start from, in the order in which they are offered. */
export const templates: readonly Template[] = [
  {
    id: 'full-body',
    name: 'Full body, three days',
    description: 'The whole body three times a week. A good start.',
    days: [
      day(MONDAY, 'Full body A', [[SQUAT, 3, 8, 10], [BENCH_PRESS, 3, 8, 10], [ROW, 3, 8, 10], ['Plank', 3, 1, 1]]),
      day(WEDNESDAY, 'Full body B', [[DEADLIFT, 3, 5, 6], [PRESS, 3, 8, 10], ['Pullups', 3, 5, 8]]),
      day(FRIDAY, 'Full body C', [['Leg_Press', 3, 10, 12], ['Incline_Dumbbell_Press', 3, 8, 12], [ROW, 3, 8, 10]])
    ]
  },
  {
    id: 'upper-lower',
    name: 'Upper and lower body, four days',
    description: 'Each half of the body twice a week.',
    days: [
      day(MONDAY, 'Upper body', upper),
      day(TUESDAY, 'Lower body', legs),
      day(THURSDAY, 'Upper body', upper),
      day(FRIDAY, 'Lower body', legs)
    ]
  },
  {
    id: 'push-pull-legs',
    name: 'Push, pull, legs, six days',
    description: 'Three workouts, each twice a week. For those who train often.',
    days: [
      day(MONDAY, 'Push', push),
      day(TUESDAY, 'Pull', pull),
      day(WEDNESDAY, 'Legs', legs),
      day(THURSDAY, 'Push', push),
      day(FRIDAY, 'Pull', pull),
      day(SATURDAY, 'Legs', legs)
    ]
  },
  {
    id: 'five-by-five',
    name: '5 × 5',
    description: 'Five sets of five with a little more weight each time.',
    days: [
      day(MONDAY, 'Workout A', [[SQUAT, 5, 5, 5], [BENCH_PRESS, 5, 5, 5], [ROW, 5, 5, 5]]),
      day(WEDNESDAY, 'Workout B', [[SQUAT, 5, 5, 5], [PRESS, 5, 5, 5], [DEADLIFT, 1, 5, 5]]),
      day(FRIDAY, 'Workout A', [[SQUAT, 5, 5, 5], [BENCH_PRESS, 5, 5, 5], [ROW, 5, 5, 5]])
    ]
  },
  {
    id: 'couch-to-5k',
    name: 'Couch to 5 km',
    description: 'Run and walk in turns, three times a week. Make the runs longer each week.',
    days: [MONDAY, WEDNESDAY, FRIDAY].map((dayOfWeek) =>
      day(dayOfWeek, 'Run and walk', [['Run 60 s, walk 90 s', 8, 1, 1]])
    )
  },
  {
    id: 'mobility',
    name: 'Mobility, three days',
    description: 'Short and gentle, for the days between.',
    days: [TUESDAY, THURSDAY, SATURDAY].map((dayOfWeek) => day(dayOfWeek, 'Mobility', mobility))
  }
]
