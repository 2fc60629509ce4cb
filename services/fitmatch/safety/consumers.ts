import { on } from '@tandem/bus-kit'
import { AccountVerified, DecisionMade, FactsChanged, PersonReported, SuspensionContinued } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { endPlacesIfTooYoung } from './ages.ts'
import { applyDecision } from './decisions.ts'
import { blockReported } from './people-blocks.ts'
import { markEmailVerified } from './reporters.ts'
import { setSuspended } from './suspensions.ts'

export const onAccountVerified = ({ db }: Deps) =>
  on(AccountVerified, async ({ data }) => await markEmailVerified(db, data.accountId))

/** A repeat finds nothing to end. */
export const onBirthDateChanged = (deps: Deps) =>
  on(FactsChanged, async ({ data }) => await endPlacesIfTooYoung(deps, data.accountId))

export const onPersonReported = (deps: Deps) =>
  on(PersonReported, async ({ id, data: { reporterId, reportedId, alsoBlock } }) => {
    if (alsoBlock) await blockReported(deps, id, { blockerId: reporterId, blockedId: reportedId, reason: null })
  })

/** A person who deleted a suspended account has a new one. A repeated event finds it suspended. */
export const onSuspensionContinued = ({ db }: Deps) =>
  on(
    SuspensionContinued,
    async ({ data: { accountId } }) =>
      await db.transaction().execute(async (trx) => await setSuspended(trx, accountId, true))
  )

export const onDecisionMade = (deps: Deps) =>
  on(DecisionMade, async ({ id, data, sequence }) => await applyDecision(deps, data, { eventId: id, sequence }))
