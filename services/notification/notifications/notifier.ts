import { createBatcher, currentCorrelation, isTransient, settleEach } from '@tandem/process-kit'
import type { Deps } from '../deps.ts'
import { changeInbox } from './change-inbox.ts'
import { notify, type AddressedRequest } from './notify.ts'
import type { NotificationRequest } from './plan.ts'
import { findRecipients } from './recipients.ts'

type NotifierDeps = Pick<Deps, 'db' | 'findPeople' | 'pushes' | 'now' | 'wakeUp'>

/**
 * Returns a function that creates the notifications of a single request. Requests that arrive while others are being
 * written are written together, in one transaction. A request that cannot be written, or one of its recipients, does not
 * make the others fail.
 */
export function createNotifier (
  deps: NotifierDeps
): (request: NotificationRequest, event: Pick<AddressedRequest, 'occurredAt' | 'sequence'>) => Promise<void> {
  const write = createBatcher(async (batch: Omit<AddressedRequest, 'recipients'>[]) => {
    const recipients = await findRecipients(deps, batch.map(({ request }) => request))
    const requests = batch.map((each, number) => ({ ...each, recipients: recipients[number]! }))
    await changeInbox(deps, async (trx) => await notify(trx, requests, deps.now()))
    return batch.map(() => undefined)
  }, { isItemError, waitsForTurn: true })

  return async (request, event) => {
    // Not that of the batch: the code that runs it belongs to only one of its requests.
    const others = { ...event, correlation: currentCorrelation() }
    try {
      await write({ request, ...others })
    } catch (error) {
      if (request.to.length < 2 || !isItemError(error)) throw error
      // One recipient is at fault. The others are notified; the event is delivered again, and finds theirs.
      await settleEach(
        request.to,
        async (accountId) => await write({ request: { ...request, to: [accountId] }, ...others }),
        { concurrency: request.to.length }
      )
    }
  }
}

// An unknown account while profile is unavailable, or a value that Postgres or the code rejects: the fault of a single
// request, or of one of its recipients.
const isItemError = (error: unknown) => !(error instanceof Error && isTransient(error))
