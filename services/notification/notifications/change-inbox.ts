import type { WakeUpSignal } from '@tandem/contracts/realtime'
import type { Deps } from '../deps.ts'
import type { Trx } from '../tables.ts'
import type { DeliveryJob } from './plan.ts'

/** What a change of inboxes wakes after its commit: realtime connections, and workers that push. */
interface InboxChange {
  signal: WakeUpSignal
  deliveries?: DeliveryJob[]
  /** Whether the same change has more to do, in another transaction. */
  hasMore?: boolean
}

/** What several changes of one transaction wake. */
export const joinChanges = (changes: InboxChange[]) => ({
  signal: changes.flatMap(({ signal }) => signal),
  deliveries: changes.flatMap(({ deliveries = [] }) => deliveries),
  hasMore: changes.some(({ hasMore = false }) => hasMore)
})

type InboxDeps = Pick<Deps, 'db' | 'wakeUp' | 'pushes'>

/**
 * How many notifications one transaction reads or removes. Somebody can have filled an inbox: all of it at once would
 * exceed the timeout of a statement, and so would each repeat.
 */
export const CHANGED_AT_ONCE = 2_000

/**
 * Runs a transaction that changes inboxes, and wakes after the commit; again while there is more to do. Returns what the
 * last one returned.
 */
export async function changeInbox<Changed extends InboxChange> (
  deps: InboxDeps,
  change: (trx: Trx) => Promise<Changed>
): Promise<Changed> {
  const changed = await deps.db.transaction().execute(change)
  await wakeAfterCommit(deps, changed)
  return changed.hasMore ? await changeInbox(deps, change) : changed
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
