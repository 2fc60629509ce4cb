import type { Deps } from '../deps.ts'
import type { Trx } from '../tables.ts'
import { changeInbox, joinChanges } from './change-inbox.ts'
import { notify, type Notified } from './notify.ts'
import type { NotificationRequest } from './plan.ts'
import { findRecipients } from './recipients.ts'

type NotifyOwner = (request: Omit<NotificationRequest, 'to'>) => Promise<void>

/**
 * Runs a transaction of this service that notifies an account of a change to it, also one that is hidden: the change
 * and the notification exist both or not at all.
 * @throws Unavailable if the account is unknown here and the profile service is unavailable
 */
export async function changeAndNotify<Result> (
  deps: Deps,
  accountId: string,
  change: (trx: Trx, notifyOwner: NotifyOwner) => Promise<Result>
): Promise<Result> {
  const [recipients = []] = await findRecipients(deps, [{ to: [accountId], actorId: null, isAboutAccount: true }])
  const { result } = await changeInbox(deps, async (trx) => {
    const notified: Notified[] = []
    const result = await change(trx, async (request) => {
      const now = deps.now()
      const addressed = { request: { ...request, to: [accountId] }, recipients, occurredAt: now }
      notified.push(await notify(trx, [addressed], now))
    })
    return { result, ...joinChanges(notified) }
  })
  return result
}
