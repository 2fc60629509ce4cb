import { createHash } from 'node:crypto'
import Type from 'typebox'
import { Data, data, languageOfRequest, Nullable, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { readHome } from '../home/queries.ts'
import { exampleHome, home } from '../home/schemas.ts'
import { readChanges } from '../logs/queries.ts'
import { Changes, ChangesQuery, exampleChange, exampleId } from '../logs/schemas.ts'

const HASH_LENGTH = 16

export const syncRoutes: Routes<Deps> = async (app, deps) => {
  app.get('/dashboard/sync', {
    schema: {
      operationId: 'syncDashboard',
      summary: 'Get what changed on the home screen and in your logs',
      description:
        'For an app that comes back: `home` is null if it is as it was at the cursor, `changes` are those of ' +
        '`GET /logs/sync`. Go on with the cursor of the last response until there are no more changes.',
      'x-extension': true,
      querystring: ChangesQuery,
      response: {
        200: Data(Type.Object({
          home: Nullable(home()),
          changes: Changes,
          cursor: Type.String()
        }, {
          examples: [{
            home: exampleHome(),
            changes: [exampleChange],
            cursor: `12_${exampleId}.5GZb1Vw0m2cQ9u7T`
          }]
        }))
      }
    }
  }, async (request, reply) => {
    const { query: { cursor, limit }, account } = request
    const [, logs = cursor, known] = /^(.*)\.(.*)$/.exec(cursor ?? '') ?? []
    const [shown, { changes, cursor: next }] = await Promise.all([
      readHome(deps, { accountId: account.id, language: languageOfRequest(request) }),
      readChanges(deps.db, account.id, { cursor: logs, limit })
    ])
    const version = createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, HASH_LENGTH)
    reply.header('vary', 'Accept-Language')
    return data({ home: version === known ? null : shown, changes, cursor: `${next}.${version}` })
  })
}
