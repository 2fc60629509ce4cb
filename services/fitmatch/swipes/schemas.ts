import Type from 'typebox'
import { named } from '@tandem/http-kit'

export const Limits = named(
  'SwipeLimits',
  Type.Object({
    dailySwipes: Type.Integer({
      description: 'As the installation allows; 999999 with an active subscription, which means no limit'
    }),
    remaining: Type.Integer(),
    used: Type.Integer(),
    unlimited: Type.Boolean()
  }, { examples: [{ dailySwipes: 10, remaining: 7, used: 3, unlimited: false }] })
)
