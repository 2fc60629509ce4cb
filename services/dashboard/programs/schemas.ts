import Type from 'typebox'
import { Body, Enum, named, Nullable, Text, Timestamp, ValidationError } from '@tandem/http-kit'
import { dayNameOf, dayNames } from '../calendar.ts'
import { exerciseNameIn } from '../exercises/names.ts'
import type { NewProgram as NewProgramInput } from './actions.ts'
import type { Program as ProgramRow } from './queries.ts'
import type { templates } from './templates.ts'

const PositiveInteger = (maximum: number) => Type.Integer({ minimum: 1, maximum })

const exampleDay = {
  dayOfWeek: 'MONDAY',
  name: 'Legs',
  isRestDay: false,
  exercises: [{ name: 'Squat', sets: 4, repsMin: 6, repsMax: 8 }]
}
const exampleExercise = {
  id: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1d',
  exerciseId: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1e',
  ...exampleDay.exercises[0]
}

const NewExercise = named(
  'NewProgramExercise',
  Body({
    name: Type.Optional(Text({ max: 100, description: 'Of an exercise that you add, if it is new' })),
    exerciseId: Type.Optional(Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'An exercise of the library or one that you added'
    })),
    sets: PositiveInteger(100),
    repsMin: PositiveInteger(1000),
    repsMax: PositiveInteger(1000)
  })
)

export const NewProgram = named(
  'NewProgram',
  Body({
    name: Text({ max: 100 }),
    days: Type.Array(
      Body({
        dayOfWeek: Enum(dayNames),
        name: Text({ max: 100 }),
        isRestDay: Type.Boolean({ default: false }),
        exercises: Type.Array(NewExercise, { maxItems: 50, default: [] })
      }),
      { minItems: 1, maxItems: 7 }
    )
  }, { examples: [{ name: 'Strong in twelve weeks', days: [exampleDay] }] })
)

export const Program = named(
  'Program',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    isActive: Type.Boolean({ description: 'Whether this is the active program' }),
    createdAt: Timestamp,
    days: Type.Array(named(
      'ProgramDay',
      Type.Object({
        id: Type.String({ description: 'Used as programDayId of workouts' }),
        dayOfWeek: Enum(dayNames),
        name: Type.String(),
        isRestDay: Type.Boolean(),
        exercises: Type.Array(named(
          'ProgramExercise',
          Type.Object({
            id: Type.String(),
            name: Type.String(),
            exerciseId: Nullable(Type.String()),
            sets: Type.Integer(),
            repsMin: Type.Integer(),
            repsMax: Type.Integer()
          })
        ))
      })
    ))
  })
)

export const example = {
  id: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b',
  name: 'Strong in twelve weeks',
  isActive: true,
  createdAt: '2026-11-20T10:30:00.000Z',
  days: [{
    id: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1c',
    ...exampleDay,
    exercises: [exampleExercise]
  }]
}

const exampleTemplate = {
  id: 'full-body',
  name: 'Full body, three days',
  description: 'The whole body three times a week. A good start.',
  days: [{
    dayOfWeek: 'MONDAY',
    name: 'Full body A',
    exercises: [{ name: 'Barbell Squat', exerciseId: 'Barbell_Squat', sets: 3, repsMin: 8, repsMax: 10 }]
  }]
}

const TemplateExercise = named(
  'ProgramTemplateExercise',
  Type.Object({
    name: Type.String(),
    exerciseId: Nullable(Type.String()),
    sets: Type.Integer(),
    repsMin: Type.Integer(),
    repsMax: Type.Integer()
  })
)

export const Template = named(
  'ProgramTemplate',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    days: Type.Array(named(
      'ProgramTemplateDay',
      Type.Object({ dayOfWeek: Enum(dayNames), name: Type.String(), exercises: Type.Array(TemplateExercise) })
    ))
  }, { examples: [exampleTemplate] })
)

export function describeTemplate ({ id, name, description, days }: typeof templates[number], language: string) {
  return {
    id,
    name,
    description,
    days: days.map((day) => ({
      dayOfWeek: dayNameOf(day.dayOfWeek),
      name: day.name,
      exercises: day.exercises.map(({ sets, repsMin, repsMax, ...exercise }) => ({
        name: exerciseNameIn(language, { exerciseId: null, name: '', ...exercise }),
        exerciseId: exercise.exerciseId ?? null,
        sets,
        repsMin,
        repsMax
      }))
    }))
  }
}

export const toResponse = (program: ProgramRow, language: string) => ({
  ...program,
  days: program.days.map((day) => ({
    ...day,
    dayOfWeek: dayNameOf(day.dayOfWeek),
    exercises: day.exercises.map((exercise) => ({ ...exercise, name: exerciseNameIn(language, exercise) }))
  }))
})

type PlannedExercise = Type.Static<typeof NewExercise>

/** @throws ValidationError */
export function parseProgram ({ name, days }: Type.Static<typeof NewProgram>): NewProgramInput {
  if (new Set(days.map(({ dayOfWeek }) => dayOfWeek)).size < days.length) {
    throw new ValidationError('daysMustNotContainSameDayOfWeekTwice', ['days'])
  }
  return {
    name,
    days: days.map((day) => ({
      ...day,
      dayOfWeek: dayNames.indexOf(day.dayOfWeek) + 1,
      exercises: day.exercises.map(parseExercise)
    }))
  }
}

function parseExercise ({ name, exerciseId, ...plan }: PlannedExercise) {
  if (plan.repsMax < plan.repsMin) {
    throw new ValidationError('repsMaxMustBeAtLeastRepsMin', ['repsMax'])
  }
  if (exerciseId !== undefined) return { ...plan, exerciseId }
  if (name !== undefined) return { ...plan, name }
  throw new ValidationError('eachExerciseNeedsNameOrExerciseId')
}
