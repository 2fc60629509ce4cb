import Type from 'typebox'
import { Data, data, named, Nullable, Timestamp, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { readReferrals } from './queries.ts'

const Referrals = named(
  'Referrals',
  Type.Object({
    code: Type.String({ description: 'Friends enter it when they register' }),
    shareUrl: Type.String({ description: 'A page that shows the code and where to get the app' }),
    count: Type.Integer({ description: 'How many registered with the code' }),
    verifiedCount: Type.Integer({
      description: 'How many of them count: at most 50, each with a mailbox and a device of their own'
    }),
    rewardDays: Type.Integer({ description: 'The days of premium that you have got for them: at most 90 in a year' }),
    redemptions: Type.Array(
      Type.Object({
        name: Nullable(Type.String(), { description: 'Null for a person that nobody sees at the moment' }),
        joinedAt: Timestamp,
        isVerified: Type.Boolean({ description: 'Whether they have verified their address' })
      }),
      { description: 'The newest 100' }
    )
  }, {
    examples: [{
      code: 'K7RMX2PA',
      shareUrl: 'https://app.example/invite/K7RMX2PA',
      count: 2,
      verifiedCount: 1,
      rewardDays: 7,
      redemptions: [
        { name: 'Ben', joinedAt: '2026-03-14T07:30:00.000Z', isVerified: false },
        { name: 'Cara', joinedAt: '2026-03-12T18:00:00.000Z', isVerified: true }
      ]
    }]
  })
)

export const referralRoutes: Routes<Deps> = async (app, { db, publicUrl }) => {
  app.get('/account/referrals', {
    schema: {
      operationId: 'getReferrals',
      summary: 'Get your referral code, and who registered with it',
      description: 'A registration counts once its address is verified. Then both of you get days of premium.',
      'x-extension': true,
      response: { 200: Data(Referrals) }
    }
  }, async ({ account }) => data(await readReferrals(db, account.id, publicUrl)))
}
