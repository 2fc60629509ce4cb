import Type from 'typebox'
import { IdempotencyConflict } from '@tandem/database-kit'
import {
  NotModified,
  Body,
  Data,
  data,
  Enum,
  Id,
  languageOfRequest,
  readIdempotencyKey,
  Message,
  message,
  Nullable,
  IdempotencyHeaders,
  Text,
  Timestamp,
  ValidationError,
  named,
  type Routes
} from '@tandem/http-kit'
import { dayNames } from '../calendar.ts'
import type { Deps } from '../deps.ts'
import { ProgramNotFound, TemplateNotFound, TooManyExercises, TooManyPrograms } from '../errors.ts'
import { exerciseNameIn } from '../exercises/names.ts'
import {
  activateProgram,
  createProgram,
  deleteProgram,
  replaceProgram,
  type NewProgram as NewProgramInput
} from './actions.ts'
import { listPrograms, readProgram, type Program as ProgramRow } from './queries.ts'
import { templates } from './templates.ts'

const PositiveInteger = (maximum: number) => Type.Integer({ minimum: 1, maximum })

function dayNameOf (dayOfWeek: number) {
  return dayNames[dayOfWeek - 1] as typeof dayNames[number]
}

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

const NewProgram = named(
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

const Program = named(
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

const example = {
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

const Template = named(
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

function describeTemplate ({ id, name, description, days }: typeof templates[number], language: string) {
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

const toResponse = (program: ProgramRow, language: string) => ({
  ...program,
  days: program.days.map((day) => ({
    ...day,
    dayOfWeek: dayNameOf(day.dayOfWeek),
    exercises: day.exercises.map((exercise) => ({ ...exercise, name: exerciseNameIn(language, exercise) }))
  }))
})

type PlannedExercise = Type.Static<typeof NewExercise>

/** @throws ValidationError */
function parseProgram ({ name, days }: Type.Static<typeof NewProgram>): NewProgramInput {
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

export const programRoutes: Routes<Deps> = async (app, { db }) => {
  app.get('/programs', {
    schema: {
      operationId: 'listPrograms',
      summary: 'List your training programs, newest first',
      description: 'Each with its days and exercises.',
      'x-extension': true,
      response: {
        200: Data(Type.Object({ programs: Type.Array(Program) }, { examples: [{ programs: [example] }] })),
        304: NotModified
      }
    }
  }, async (request, reply) => {
    reply.header('vary', 'Accept-Language')
    const language = languageOfRequest(request)
    const programs = await listPrograms(db, request.account.id)
    return data({ programs: programs.map((program) => toResponse(program, language)) })
  })

  app.post('/programs', {
    schema: {
      operationId: 'createProgram',
      summary: 'Create a training program',
      description: 'At most 50 per user. A new program is not active until you activate it.',
      'x-extension': true,
      headers: IdempotencyHeaders,
      body: NewProgram,
      errors: [TooManyPrograms, TooManyExercises, IdempotencyConflict],
      response: {
        201: Data(Type.Object({ program: Program }, { examples: [{ program: { ...example, isActive: false } }] }))
      }
    }
  }, async (request, reply) => {
    const owner = { accountId: request.account.id, language: languageOfRequest(request) }
    const program = await createProgram(db, owner, parseProgram(request.body), readIdempotencyKey(request))
    return reply.code(201).send(data({ program: toResponse(program, owner.language) }))
  })

  app.get('/programs/:id', {
    schema: {
      operationId: 'readProgram',
      summary: 'Read a training program',
      description: 'With its days and exercises.',
      'x-extension': true,
      params: Type.Object({ id: Id }),
      errors: [ProgramNotFound],
      response: {
        200: Data(Type.Object({ program: Program }, { examples: [{ program: example }] })),
        304: NotModified
      }
    }
  }, async (request, reply) => {
    reply.header('vary', 'Accept-Language')
    const program = await readProgram(db, request.account.id, request.params.id)
    return data({ program: toResponse(program, languageOfRequest(request)) })
  })

  app.put(
    '/programs/:id',
    {
      schema: {
        operationId: 'replaceProgram',
        summary: 'Replace the name and the days of a training program',
        description: 'A day of the week that stays keeps its id.',
        'x-extension': true,
        params: Type.Object({ id: Id }),
        body: NewProgram,
        errors: [ProgramNotFound, TooManyExercises],
        response: { 200: Data(Type.Object({ program: Program }, { examples: [{ program: example }] })) }
      }
    },
    async (request) => {
      const owner = { accountId: request.account.id, language: languageOfRequest(request) }
      const program = await replaceProgram(db, owner, request.params.id, parseProgram(request.body))
      return data({ program: toResponse(program, owner.language) })
    }
  )

  app.get('/programs/templates', {
    schema: {
      operationId: 'listProgramTemplates',
      summary: 'List programs to start from',
      description: 'Copy one to get a program of your own.',
      'x-extension': true,
      response: { 200: Data(Type.Object({ templates: Type.Array(Template) })), 304: NotModified }
    }
  }, async (request, reply) => {
    reply.header('vary', 'Accept-Language')
    const language = languageOfRequest(request)
    return data({ templates: templates.map((template) => describeTemplate(template, language)) })
  })

  app.post('/programs/templates/:id/copy', {
    schema: {
      operationId: 'copyProgramTemplate',
      summary: 'Make a training program from a template',
      description: 'The copy is yours to change. It is not active until you activate it.',
      'x-extension': true,
      headers: IdempotencyHeaders,
      params: Type.Object({ id: Type.String({ examples: ['full-body'] }) }),
      errors: [TemplateNotFound, TooManyPrograms, TooManyExercises, IdempotencyConflict],
      response: {
        201: Data(Type.Object({ program: Program }, { examples: [{ program: { ...example, isActive: false } }] }))
      }
    }
  }, async (request, reply) => {
    const template = templates.find(({ id }) => id === request.params.id)
    if (!template) throw new TemplateNotFound()
    const owner = { accountId: request.account.id, language: languageOfRequest(request) }
    const program = await createProgram(db, owner, template, readIdempotencyKey(request))
    return reply.code(201).send(data({ program: toResponse(program, owner.language) }))
  })

  app.delete('/programs/:id', {
    schema: {
      operationId: 'deleteProgram',
      summary: 'Delete a training program',
      description: 'Workouts that were logged with it stay.',
      'x-extension': true,
      params: Type.Object({ id: Id }),
      errors: [ProgramNotFound],
      response: { 200: Message }
    }
  }, async ({ params, account }) => {
    await deleteProgram(db, account.id, params.id)
    return message('The program was deleted')
  })

  app.put('/programs/active', {
    schema: {
      operationId: 'activateProgram',
      summary: 'Set the active program, or null for none',
      description: 'The home screen shows the workout of the active program for today.',
      'x-extension': true,
      body: Body({ programId: Nullable(Id) }, { examples: [{ programId: example.id }] }),
      errors: [ProgramNotFound],
      response: { 200: Data(Type.Object({ program: Nullable(Program) }, { examples: [{ program: example }] })) }
    }
  }, async (request) => {
    const { body: { programId }, account } = request
    await activateProgram(db, account.id, programId)
    if (programId === null) return data({ program: null })
    const program = await readProgram(db, account.id, programId)
    return data({ program: toResponse(program, languageOfRequest(request)) })
  })
}
