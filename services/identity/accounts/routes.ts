import Type from 'typebox'
import { TrainingTotals } from '@tandem/contracts'
import type { Routes } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { UserNotFound } from '../errors.ts'
import { findOwnAccount } from './queries.ts'
import { describeUser, OwnUser } from './user.ts'

export const accountRoutes: Routes<Deps> = async (app, { db, ask }) => {
  app.get('/auth/me', {
    schema: {
      summary: 'Read my own account',
      response: { 200: Type.Object({ success: Type.Literal(true), user: OwnUser }) }
    }
  }, async ({ account: { id: accountId } }) => {
    const account = await findOwnAccount(db, accountId)
    if (!account) throw new UserNotFound()
    // Unlike the rest, the totals cannot be shown as unknown: without them there is no answer.
    const [user, { totalWorkouts, totalFoodEntries }] = await Promise.all([describeUser(ask, account), ask(TrainingTotals, { accountId })])
    const { updatedAt, referralCode, subscription } = account
    return { success: true as const, user: { ...user, updatedAt, referralCode, subscription, stats: { totalWorkouts, totalFoodEntries } } }
  })
}
