import { on } from '@tandem/bus-kit'
import { DecisionMade } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { applyDecision } from './decisions.ts'

export const onDecisionMade = ({ db }: Deps) =>
  on(DecisionMade, async ({ id, data, sequence }) => await applyDecision(db, data, { eventId: id, sequence }))
