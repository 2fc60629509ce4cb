import { Message, message, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { callerOf } from '../sessions/caller.ts'
import { pauseAccount } from './actions.ts'

export const pauseRoutes: Routes<Deps> = async (app, deps) => {
  app.post('/account/pause', {
    schema: {
      operationId: 'pauseAccount',
      summary: 'Hide the account until the next sign-in',
      description: 'All devices are signed out, and nobody else sees the person. Nothing is deleted.',
      'x-extension': true,
      response: { 200: Message }
    }
  }, async ({ account }) => {
    await pauseAccount(deps, callerOf(account))
    return message('Your account is paused. Sign in to resume it.')
  })
}
