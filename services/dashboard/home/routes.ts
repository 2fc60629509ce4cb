import { Data, data, languageOfRequest, NotModified, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { readHome } from './queries.ts'
import { home } from './schemas.ts'

export const homeRoutes: Routes<Deps> = async (app, deps) => {
  app.get('/dashboard/home', {
    schema: {
      operationId: 'getHome',
      summary: 'Get the home screen',
      description: 'Everything the home screen shows in one response. ' +
        'While the service behind a part is unavailable, that part is null or empty.',
      response: {
        200: Data(home()),
        304: NotModified
      }
    }
  }, async (request, reply) => {
    reply.header('vary', 'Accept-Language')
    return data(await readHome(deps, { accountId: request.account.id, language: languageOfRequest(request) }))
  })
}
