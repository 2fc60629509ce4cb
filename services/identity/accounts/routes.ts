import Type from 'typebox'
import type { Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { UserNotFound } from '../errors.ts'
import { findOwnAccount } from './queries.ts'
import { describeOwnUser, OwnUser } from './user.ts'

export const accountRoutes: Routes<Deps> = async (app, deps) => {
  app.get('/auth/me', {
    schema: {
      operationId: 'getCurrentUser',
      summary: "Get the caller's own account",
      description: 'What an app needs at its start: the profile, the goals, the subscription and some totals.',
      errors: [UserNotFound],
      response: { 200: Type.Object({ success: Type.Literal(true), user: OwnUser }) }
    }
  }, async ({ account: { id } }) => {
    const account = await findOwnAccount(deps.db, id, deps.clock())
    if (!account) throw new UserNotFound()
    return { success: true as const, user: await describeOwnUser(deps, account) }
  })
}
