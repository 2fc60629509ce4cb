import { on } from '@tandem/bus-kit'
import { PersonChanged, SubscriptionChanged, SuspensionChanged, VerificationDecided } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { logFrames } from '../frames/log.ts'
import { changeInbox } from '../notifications/change-inbox.ts'

type Part = 'PROFILE' | 'SUBSCRIPTION' | 'FITMATCH'

async function reportChange (
  deps: Deps,
  { id, data: { accountId } }: { id: string, data: { accountId: string } },
  part: Part
) {
  const frame = { accountId, type: 'account.changed' as const, ids: { parts: [part] }, key: `changed:${id}` }
  await changeInbox(deps, async (trx) => ({ signal: await logFrames(trx, [frame]) }))
}

/** Handlers of the events after which a client must fetch a part of the account again. */
export const onAccountChanged = (deps: Deps) => [
  on(PersonChanged, async (event) => await reportChange(deps, event, 'PROFILE')),
  on(SubscriptionChanged, async (event) => await reportChange(deps, event, 'SUBSCRIPTION')),
  on(SuspensionChanged, async (event) => await reportChange(deps, event, 'FITMATCH')),
  on(VerificationDecided, async (event) => await reportChange(deps, event, 'FITMATCH'))
]
