import { randomUUIDv7 } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Counter } from 'prom-client'
import { once, type IdempotencyKey } from '@tandem/database-kit'
import { retryAfter, type Outcome as JobOutcome } from '@tandem/queue-kit'
import type { Deps } from '../deps.ts'
import { writeNotices, type Waiting } from '../inbox/actions.ts'
import { planNotice, type Telling } from '../inbox/planning.ts'
import { findRecipients } from '../inbox/recipients.ts'
import { keepPeople } from '../people/actions.ts'
import { askPeopleIfThere } from '../people/asking.ts'
import type { Db, DeliveryStatus } from '../schema.ts'
import { languageFor, write } from '../texts/texts.ts'
import type { Provider } from './provider.ts'
import { claimDelivery, findWait, type Claimed } from './queries.ts'

const counted = new Counter({ name: 'notification_pushes_total', help: 'Attempts at a push, by what came of them', labelNames: ['outcome'] as const })

const GIVE_UP_AFTER_HOURS = 24
const UNTOLD_WAIT = 60_000
const JITTER = 15_000
const LEASE_LEFT = 8_000

/** Sends one push, if it is still to be sent, and writes down what came of it. */
export async function deliver ({ db, ask }: Pick<Deps, 'db' | 'ask'>, provider: Provider, id: string): Promise<JobOutcome> {
  const claimed = await claimDelivery(db, id)
  if (!claimed) {
    const wait = await findWait(db, id)
    return wait === undefined ? undefined : retryAfter(Math.max(wait, 0) + 10)
  }
  const { token, accountId, deviceId } = claimed
  const needless = whyNeedless(claimed)
  if (needless || token === null) return await finish(db, id, ...needless ?? ['pruned', 'the device has signed out'] as const)

  const { language, timezone, actorName } = await know({ db, ask }, claimed)
  const outcome = await provider.send({
    token,
    platform: claimed.platform,
    collapseId: claimed.noticeId,
    ...write({ ...claimed, actorName }, language, timezone),
    data: { notificationId: claimed.noticeId, type: claimed.type, ...claimed.data },
    badge: claimed.unread,
    urgent: !claimed.low
  })
  counted.inc({ outcome: outcome.is })
  switch (outcome.is) {
    case 'sent': return await finish(db, id, 'sent', outcome.note ?? null)
    case 'refused': return await finish(db, id, 'failed', outcome.reason)
    case 'dead':
      // The token too: meanwhile the device may have registered a new one under its id.
      await db.deleteFrom('devices').where('id', '=', deviceId).where('account_id', '=', accountId).where('token', '=', token).execute()
      return await finish(db, id, 'pruned', outcome.reason)
    case 'later': return await putOff(db, claimed, outcome)
  }
}

type Ending = [status: DeliveryStatus, reason: string]

function whyNeedless ({ isRemoved, isBlocked, isRead, wasHeld, hours }: Claimed): Ending | undefined {
  if (isRemoved) return ['muted', 'the notification was deleted']
  if (isBlocked) return ['muted', 'one of the two has blocked the other']
  if (wasHeld && isRead) return ['muted', 'it was read before it was due']
  if (hours >= GIVE_UP_AFTER_HOURS) return ['failed', 'it could not be sent within a day']
}

/** What the text needs of people; whom nobody knows is no reason to keep silent. */
async function know ({ db, ask }: Pick<Deps, 'db' | 'ask'>, { accountId, actorId, actorName, locale, timezone }: Claimed) {
  const strangers = [...locale === null ? [accountId] : [], ...actorId && actorName === null ? [actorId] : []]
  const met = strangers.length === 0 ? [] : await askPeopleIfThere(ask, strangers)
  await keepPeople(db, met)
  const find = (id: string | null) => met.find((person) => person.accountId === id)
  return {
    language: languageFor(locale ?? find(accountId)?.locale ?? null),
    timezone: timezone ?? find(accountId)?.timezone ?? 'UTC',
    actorName: actorName ?? find(actorId)?.name ?? null
  }
}

async function putOff (db: Db, { id, attempts, hours }: Claimed, { reason, wait }: { reason: string, wait?: number }): Promise<JobOutcome> {
  // Beyond a day there is nothing left to wait for.
  if (hours + (wait ?? 0) / 3_600_000 >= GIVE_UP_AFTER_HOURS) return await finish(db, id, 'failed', reason)
  const pause = (wait ?? Math.min(UNTOLD_WAIT * 2 ** Math.min(attempts - 1, 4), 600_000)) + Math.random() * JITTER
  await persist(async () => {
    await db.updateTable('deliveries')
      .set({ status: 'pending', reason, claimed_until: null, due_at: new Date(Date.now() + pause) })
      .where('id', '=', id).where('attempts', '=', attempts).where('status', 'in', ['pending', 'held'])
      .execute()
  })
  return retryAfter(pause)
}

async function finish (db: Db, id: string, status: DeliveryStatus, reason: string | null): Promise<undefined> {
  await persist(async () => {
    await db.updateTable('deliveries').set({ status, reason, claimed_until: null, finished_at: new Date() })
      .where('id', '=', id).where('status', 'in', ['pending', 'held'])
      .execute()
  })
}

// A push that was taken and cannot be marked would be sent again, so Postgres gets a while to come back.
async function persist (write: () => Promise<void>) {
  const until = Date.now() + LEASE_LEFT
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (Date.now() > until) throw error
      await sleep(250)
    }
  }
}

/** Pushes a word to all devices of somebody, muted or not; returns to how many. */
export async function testPush (deps: Deps, accountId: string, key: IdempotencyKey | undefined) {
  const [recipient] = await findRecipients(deps, { to: [accountId], actorId: null })
  let waiting: Waiting[] = []
  const devices = await once(deps.db, key, async (trx) => {
    if (!recipient) return 0
    const now = deps.now()
    const telling: Telling = { kind: 'pushTest', cause: `test:${randomUUIDv7()}`, to: [accountId] }
    const written = await writeNotices(trx, telling, [planNotice(telling, recipient, { now, happenedAt: now })])
    waiting = written.waiting
    return waiting.length
  })
  await deps.pushes.offer(waiting)
  return devices
}
