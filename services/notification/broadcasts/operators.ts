import { randomUUIDv7 } from 'node:crypto'
import { sql } from 'kysely'
import { confirmProposal, propose, type Operator, type Proposal } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { AppAccountMissing, BroadcastNotFound } from '../errors.ts'
import type { NotificationRequest } from '../notifications/plan.ts'
import type { Localized, Db } from '../tables.ts'
import { insertBroadcast, paramsOf } from './actions.ts'

export interface BroadcastText {
  title: Localized
  body: Localized
}

/** Sends a broadcast, or proposes it if it takes two operators. @throws ProposalExists */
export async function sendOrPropose (
  { db, fourEyes }: Pick<Deps, 'db' | 'fourEyes'>,
  operator: Operator,
  { title, body, reason }: BroadcastText & { reason: string }
) {
  const id = randomUUIDv7()
  if (fourEyes.has('BROADCAST')) {
    return await db.transaction().execute(async (trx) =>
      await propose(trx, operator, {
        kind: 'BROADCAST',
        subject: id,
        accountId: null,
        reason,
        payload: { title, body }
      })
    )
  }
  await insertBroadcast(db, { id, title, body }, new Date())
  return { id }
}

/** Sends a broadcast that another operator proposed, once. @throws Forbidden, ProposalNotFound */
export async function confirmBroadcast ({ db }: Pick<Deps, 'db'>, operator: Operator, proposal: Proposal) {
  const { title, body } = proposal.payload as BroadcastText
  await db.transaction().execute(async (trx) => {
    await confirmProposal(trx, operator, proposal)
    await insertBroadcast(trx, { id: proposal.subject, title, body }, new Date())
  })
}

/** Nobody else receives a broadcast that is being sent. @throws BroadcastNotFound unless it is */
export async function stopBroadcast (db: Db, id: string) {
  const stopped = await db.updateTable('broadcasts').set({ finished_at: sql`now()`, stopped_at: sql`now()` })
    .where('id', '=', id).where('finished_at', 'is', null).returning('id').executeTakeFirst()
  if (!stopped) throw new BroadcastNotFound()
}

type Notify = (request: NotificationRequest, event: { occurredAt: Date }) => Promise<void>

/** Sends a broadcast to its operator's own account in the app only. @throws AppAccountMissing */
export async function sendTest (notify: Notify, { accountId }: Operator, { title, body }: BroadcastText) {
  if (accountId === null) throw new AppAccountMissing()
  const id = randomUUIDv7()
  await notify({
    kind: 'broadcast',
    dedupeKey: `broadcast-test:${id}`,
    to: [accountId],
    data: { broadcastId: id },
    params: paramsOf({ title, body })
  }, { occurredAt: new Date() })
}

export const listBroadcasts = async (db: Db) =>
  await db.selectFrom('broadcasts')
    .select([
      'id',
      'title',
      'body',
      'recipients_count as recipients',
      'created_at as createdAt',
      'finished_at as finishedAt',
      'stopped_at as stoppedAt'
    ])
    .orderBy('created_at', 'desc').limit(50).execute()
