import { sql } from 'kysely'
import { publish } from '@tandem/bus-kit'
import { SuspensionChanged } from '@tandem/contracts'
import { endPlacesOf } from '../activities/endings.ts'
import { endAllBuddies } from '../buddies/endings.ts'
import { lockMember } from '../people/actions.ts'
import type { Trx } from '../tables.ts'

const REPORTERS_TO_SUSPEND = 3

/**
 * Suspends an account until an operator has reviewed it, if three people have reported it, or one has reported that its
 * owner is under age. Only reporters with a verified email address count. Once an operator has resolved a report, its
 * reporter no longer counts against this account, or the same people could suspend it again and again. Call it under
 * the member's lock.
 *
 * Reporters do not need to have met the person. Counting only people who were shown the profile, swiped or matched was
 * rejected: a client can report an id that it learned elsewhere, and the API promises that the third report suspends.
 * Abuse is limited by ten reports a day, one vote per reporter, the audit log and RESTORE.
 */
export async function suspendIfDue (trx: Trx, accountId: string) {
  const reporters = await trx.selectFrom('reports').innerJoin('members', 'members.account_id', 'reporter_id')
    .where('reported_id', '=', accountId).where('email_verified', '=', true)
    .select(sql<boolean>`bool_or(reason = 'UNDERAGE')`.as('isUnderage'))
    .groupBy('reporter_id')
    .having(sql<boolean>`bool_and(status = 'OPEN')`)
    .execute()
  if (reporters.length >= REPORTERS_TO_SUSPEND || reporters.some(({ isUnderage }) => isUnderage)) {
    const automatedCaseId = await raiseCase(trx, accountId)
    await setSuspended(trx, accountId, true, { automatedCaseId })
  }
}

interface Suspension {
  /** Without one, the suspension lasts until somebody lifts it, even if it had an end before. */
  until?: Date | null
  automatedCaseId?: string | undefined
  isDecision?: boolean
}

/**
 * Suspends an account, or lifts the suspension. The account is suspended, not the profile, so a new profile is
 * suspended too.
 */
export async function setSuspended (
  trx: Trx,
  accountId: string,
  suspended: boolean,
  { until = null, automatedCaseId, isDecision }: Suspension = {}
) {
  const member = await lockMember(trx, accountId)
  await trx.updateTable('members').set({ suspended_until: until }).where('account_id', '=', accountId).execute()
  const isChanged = (member.suspended_at !== null) !== suspended
  // Identity then writes a statement of this automated decision, too.
  const isProlonged = automatedCaseId !== undefined && member.suspended_until !== null
  if (!isChanged && !isProlonged) return
  if (isChanged) await storeSuspension(trx, accountId, suspended)
  await publish(trx, SuspensionChanged, accountId, { accountId, suspended, automatedCaseId, isDecision })
}

async function storeSuspension (trx: Trx, accountId: string, suspended: boolean) {
  await trx.updateTable('members').set({ suspended_at: suspended ? sql`now()` : null })
    .where('account_id', '=', accountId).execute()
  await trx.updateTable('profiles').set({ suspended, updated_at: sql`now()` }).where('account_id', '=', accountId)
    .execute()
  if (!suspended) return
  await endPlacesOf(trx, accountId)
  await endAllBuddies(trx, accountId)
}

/** Gives the open case of an account the highest priority: nobody has looked at the suspension yet. @returns its id */
async function raiseCase (trx: Trx, accountId: string) {
  const { rows: [raised] } = await sql<{ id: string }>`
    update cases set priority = 3, due_at = least(due_at, now() + interval '24 hours'),
      version = version + (priority < 3)::int
    where target_type = 'PROFILE' and target_id = ${accountId} and resolved_at is null returning id`.execute(trx)
  return raised?.id
}
