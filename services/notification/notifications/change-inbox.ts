import type { WakeUpSignal } from '@tandem/contracts/realtime'
import type { Deps } from '../deps.ts'
import type { Trx } from '../tables.ts'
import type { DeliveryJob } from './plan.ts'

/** What a change of inboxes wakes after its commit: realtime connections, and workers that push. */
interface InboxChange {
  signal: WakeUpSignal
  deliveries?: DeliveryJob[]
}

/** What several changes of one transaction wake. */
export const joinChanges = (changes: InboxChange[]) => ({
  signal: changes.flatMap(({ signal }) => signal),
  deliveries: changes.flatMap(({ deliveries = [] }) => deliveries)
})

type InboxDeps = Pick<Deps, 'db' | 'wakeUp' | 'pushes'>

/** Runs a transaction that changes inboxes, and wakes after the commit. Returns what the transaction returned. */
export async function changeInbox<Changed extends InboxChange> (
  deps: InboxDeps,
  change: (trx: Trx) => Promise<Changed>
): Promise<Changed> {
  const changed = await deps.db.transaction().execute(change)
  await wakeAfterCommit(deps, changed)
  return changed
}

/**
 * Wakes the connections and the workers. Nothing depends on it but time: gateways look by themselves, and a sweep finds
 * deliveries that are not enqueued.
 */
export async function wakeAfterCommit (
  { wakeUp, pushes }: Pick<InboxDeps, 'wakeUp' | 'pushes'>,
  { signal, deliveries = [] }: InboxChange
) {
  if (signal.length > 0) wakeUp(signal)
  if (deliveries.length > 0) await pushes.enqueue(deliveries)
}
