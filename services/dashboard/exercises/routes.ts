import Type from 'typebox'
import {
  Body,
  Data,
  data,
  Enum,
  Id,
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
  app.get('/exercises', {
    schema: {
      operationId: 'listExercises',
      summary: 'Search exercises',
      description:
        'The exercises of the library and those you added, by name; those that begin with `query` first. Names are in English.',
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
  }, async ({ query, account }) => {
    const exercises = await listExercises(db, account.id, query)
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
  }, async ({ params, account }) => data({ exercise: await readExercise(db, account.id, params.id) }))

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
  }, async ({ body, account }, reply) => {
    const id = await addExercise(db, account.id, body.name)
    return reply.code(201).send(data({ exercise: await readExercise(db, account.id, id) }))
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
