import { sql, type Kysely, type Transaction } from 'kysely'
import { lockTarget } from './cases.ts'
import type { CaseTables, Outcome } from './tables.ts'

const EXCERPT_CHARACTERS = 140

/** The beginning of the text in `content`, evidence of any kind. */
export const excerpt = sql<string | null>`
  nullif(left(coalesce(content ->> 'content', content ->> 'caption', content ->> 'bio', content ->> 'name',
    content ->> 'displayName'), ${sql.lit(EXCERPT_CHARACTERS)}), '')`

/** What identity needs to decide a case; undefined if there is none. */
export async function describeCase<Tables extends CaseTables> (db: Kysely<Tables>, id: string) {
  const { rows: [found] } = await sql<{
    accountId: string,
    version: number,
    isOpen: boolean,
    targetType: string,
    targetId: string,
    excerpt: string | null
  }>`
    select account_id as "accountId", version, resolved_at is null as "isOpen", target_type as "targetType",
      target_id as "targetId", (
        select ${excerpt} from case_evidence where case_id = cases.id order by case_evidence.id desc limit 1
      ) as excerpt
    from cases where id = ${id}`.execute(db)
  return found
}

interface Resolution {
  decisionId: string
  outcome: Outcome
}

/**
 * Closes a case by a decision. A later decision about it, such as a reversal, replaces the outcome.
 * @returns its target, and whether reporters are to learn of it: it was open, or action is taken after all; undefined if
 * there is no such case
 */
export async function resolveCase<Tables extends CaseTables> (
  trx: Transaction<Tables>,
  id: string,
  { decisionId, outcome }: Resolution
) {
  const known = await describeCase(trx, id)
  if (!known) return
  await lockTarget(trx, { type: known.targetType, id: known.targetId })
  const { rows: [resolved] } = await sql<{ isForReporters: boolean }>`
    with before as (
      select id, resolved_at is null or (outcome <> 'ACTION_TAKEN' and ${outcome} = 'ACTION_TAKEN') as is_for_reporters
      from cases where id = ${id} for update
    )
    update cases set decision_id = ${decisionId}, outcome = ${outcome}, resolved_at = now(), version = version + 1,
      claimed_by = null, claimed_until = null
    from before where cases.id = before.id
    returning before.is_for_reporters as "isForReporters"`.execute(trx)
  return { ...known, isForReporters: resolved?.isForReporters ?? false }
}
