import Type from 'typebox'
import {
  Body,
  Data,
  data,
  Enum,
  Id,
  languageOfRequest,
  Message,
  message,
  named,
  NextCursor,
  NotModified,
  Nullable,
  PageQuery,
  paginate,
  Text,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { ExerciseNotFound, TooManyExercises } from '../errors.ts'
import { addExercise, deleteExercise } from './actions.ts'
import { categories, equipments, muscles } from './library.ts'
import { readNames } from './names.ts'
import { listExercises, readExercise } from './queries.ts'

const example = {
  id: 'Barbell_Squat',
  name: 'Barbell Squat',
  category: 'strength',
  level: 'beginner',
  force: 'push',
  mechanic: 'compound',
  equipment: 'barbell',
  primaryMuscles: ['quadriceps'],
  secondaryMuscles: ['calves', 'glutes', 'hamstrings', 'lower back'],
  isCustom: false
}

const Exercise = named(
  'Exercise',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    category: Nullable(Type.String()),
    level: Nullable(Type.String()),
    force: Nullable(Type.String()),
    mechanic: Nullable(Type.String()),
    equipment: Nullable(Type.String()),
    primaryMuscles: Type.Array(Type.String()),
    secondaryMuscles: Type.Array(Type.String()),
    isCustom: Type.Boolean({ description: 'Whether you added it. Then only its name is known' })
  }, { examples: [example] })
)

// Ids of the library are no UUIDs.
const params = Type.Object({ id: Type.String({ minLength: 1, maxLength: 100, examples: ['Barbell_Squat'] }) })

export const exerciseRoutes: Routes<Deps> = async (app, { db }) => {
  // A process does not start with a fault in them.
  readNames()

  app.get('/exercises', {
    schema: {
      operationId: 'listExercises',
      summary: 'Search exercises',
      description:
        'The exercises of the library and those you added, by name; those that begin with `query` first. Names are in ' +
        'the language of Accept-Language, or in English where it has none. `query` finds the English ones too.',
      'x-extension': true,
      querystring: PageQuery({
        query: Type.Optional(Type.String({ maxLength: 100, description: 'Words of the name' })),
        muscle: Type.Optional(Enum(muscles, { description: 'A primary or secondary muscle' })),
        equipment: Type.Optional(Enum(equipments)),
        category: Type.Optional(Enum(categories)),
        cursor: Type.Optional(Type.String({ maxLength: 100, description: 'The nextCursor of the previous page' }))
      }),
      response: {
        200: Data(Type.Object({ exercises: Type.Array(Exercise), nextCursor: NextCursor })),
        304: NotModified
      }
    }
  }, async (request, reply) => {
    const { query, account } = request
    reply.header('vary', 'Accept-Language')
    const exercises = await listExercises(db, account.id, { ...query, language: languageOfRequest(request) })
    const { page, nextCursor } = paginate(exercises, query.limit, ({ id }) => id)
    return data({ exercises: page, nextCursor })
  })

  app.get('/exercises/:id', {
    schema: {
      operationId: 'readExercise',
      summary: 'Read an exercise',
      description: 'One of the library, or one that you added.',
      'x-extension': true,
      params,
      errors: [ExerciseNotFound],
      response: { 200: Data(Type.Object({ exercise: Exercise })), 304: NotModified }
    }
  }, async (request, reply) => {
    reply.header('vary', 'Accept-Language')
    const { params: { id }, account } = request
    return data({ exercise: await readExercise(db, account.id, { id, language: languageOfRequest(request) }) })
  })

  app.post('/exercises', {
    schema: {
      operationId: 'addExercise',
      summary: 'Add an exercise that the library lacks',
      description: 'At most 300 per user. If there is one with this name already, it is returned.',
      'x-extension': true,
      body: Body({ name: Text({ max: 100 }) }, { examples: [{ name: 'Moon walk' }] }),
      errors: [TooManyExercises],
      response: { 201: Data(Type.Object({ exercise: Exercise })) }
    }
  }, async (request, reply) => {
    const { body: { name }, account } = request
    const language = languageOfRequest(request)
    const id = await addExercise(db, account.id, { name, language })
    return reply.code(201).send(data({ exercise: await readExercise(db, account.id, { id, language }) }))
  })

  app.delete('/exercises/:id', {
    schema: {
      operationId: 'deleteExercise',
      summary: 'Delete an exercise that you added',
      description: 'Programs, logs and records keep its name.',
      'x-extension': true,
      params: Type.Object({ id: Id }),
      errors: [ExerciseNotFound],
      response: { 200: Message }
    }
  }, async ({ params, account }) => {
    await deleteExercise(db, account.id, params.id)
    return message('The exercise was deleted')
  })
}
