import { changeInbox } from '../frames/log.ts'
import type { Deps } from '../deps.ts'
import type { Trx } from '../tables.ts'
import { insertNotifications } from './create.ts'
import { planNotification, type DeliveryJob, type NotificationRequest } from './plan.ts'
import { findRecipients } from './recipients.ts'

type Notify = (request: Omit<NotificationRequest, 'to'>) => Promise<void>

/**
 * Runs a transaction of this service that notifies an account: the change and the notification exist both or not at
 * all. Pushes are enqueued after the commit.
 * @throws Unavailable if the account is unknown here and the profile service is unavailable
 */
export async function changeAndNotify<Result> (
  deps: Deps,
  accountId: string,
  change: (trx: Trx, notify: Notify) => Promise<Result>
): Promise<Result> {
  const [[recipient] = []] = await findRecipients(deps, [{ to: [accountId], actorId: null }])
  const enqueued: DeliveryJob[] = []
  const result = await changeInbox(deps, async (trx) =>
    await change(trx, async (request) => {
      if (!recipient) return
      const now = deps.now()
      const plan = planNotification({ ...request, to: [accountId] }, recipient, { now, occurredAt: now })
      const { jobs } = await insertNotifications(trx, [plan])
      enqueued.push(...jobs.get(plan.notificationId) ?? [])
    }))
  if (enqueued.length > 0) await deps.pushes.enqueue(enqueued)
  return result
}
