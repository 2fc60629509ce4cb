import { on } from '@tandem/bus-kit'
import { PersonBlocked, PersonHidden } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { endAsContact, endIneligibleContact } from './endings.ts'

export const onContactBlocked = (deps: Deps) =>
  on(PersonBlocked, async ({ data: { blockerId, blockedId } }) => {
    for (const accountId of [blockerId, blockedId]) await endIneligibleContact(deps, accountId)
  })

export const onContactHidden = (deps: Deps) =>
  on(PersonHidden, async ({ data: { accountId, hidden } }) => {
    if (hidden) await endAsContact(deps, accountId)
  })
