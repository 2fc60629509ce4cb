import Type from 'typebox'
import { Body, Data, data, Text, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { Email } from '../schemas.ts'
import { reportIssue } from './actions.ts'

export const issueRoutes: Routes<Deps> = async (app, { db }) => {
  app.post('/auth/report-issue', {
    schema: {
      operationId: 'reportSignInIssue',
      summary: 'Report a problem with signing in',
      description: 'Operators read the reports.',
      body: Body({
        email: Email,
        description: Text({ min: 10, max: 1_000, examples: ['The code never arrives, although I requested it twice.'] })
      }),
      response: { 200: Data(Type.Object({ message: Type.String({ examples: ['Thank you, we will look into it'] }) })) }
    },
    config: { public: true }
  }, async ({ body }) => {
    await reportIssue(db, body)
    return data({ message: 'Thank you, we will look into it' })
  })
}
