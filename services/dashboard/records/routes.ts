import Type from 'typebox'
import { Data, data, languageOfRequest, Timestamp, named, NotModified, Nullable, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { listRecords } from './queries.ts'

const Record = named(
  'PersonalRecord',
  Type.Object({
    exercise: Type.String(),
    exerciseId: Nullable(Type.String(), { description: 'null if neither the library nor you have this exercise' }),
    weightKg: Type.Number(),
    reps: Type.Integer(),
    achievedAt: Timestamp
  }, {
    examples: [{ exercise: 'Squat', exerciseId: null, weightKg: 80, reps: 5, achievedAt: '2026-11-20T10:30:00.000Z' }]
  })
)

export const recordRoutes: Routes<Deps> = async (app, { db }) => {
  app.get('/records', {
    schema: {
      operationId: 'listRecords',
      summary: 'List your personal records',
      description:
        'The heaviest set of each exercise, newest first. Without weight (0), or with assistance (negative), of equal ' +
        'weights the one with the most repetitions.',
      'x-extension': true,
      response: { 200: Data(Type.Object({ records: Type.Array(Record) })), 304: NotModified }
    }
  }, async (request, reply) => {
    reply.header('vary', 'Accept-Language')
    return data({ records: await listRecords(db, request.account.id, languageOfRequest(request)) })
  })
}
