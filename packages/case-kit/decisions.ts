import { sql, type Kysely, type Transaction } from 'kysely'
import { lockTarget } from './cases.ts'
import type { CaseTables, Outcome } from './tables.ts'

const EXCERPT_CHARACTERS = 140

/** The beginning of the text in `content`, evidence of any kind. */
export const excerpt = sql<string | null>`
  nullif(left(coalesce(content ->> 'content', content ->> 'caption', content ->> 'bio', content ->> 'name',
    content ->> 'displayName'), ${sql.lit(EXCERPT_CHARACTERS)}), '')`

/** Whether only administrators see all pictures of a case. Nobody else takes or decides it. */
export const hidesPictures = sql<boolean>`(is_restricted and (
  exists (select from case_files where case_id = cases.id)
  or exists (select from reports where case_id = cases.id and evidence <> '{}')))`

/** What identity needs to decide a case; undefined if there is none. */
export async function describeCase (db: Kysely<CaseTables>, id: string) {
  const { rows: [found] } = await sql<{
    accountId: string,
    version: number,
    isOpen: boolean,
    targetType: string,
    targetId: string,
    hidesPictures: boolean,
    excerpt: string | null
  }>`
    select account_id as "accountId", version, resolved_at is null as "isOpen", target_type as "targetType",
      target_id as "targetId", ${hidesPictures} as "hidesPictures", (
        select ${excerpt} from case_evidence where case_id = cases.id order by case_evidence.id desc limit 1
      ) as excerpt
    from cases where id = ${id}`.execute(db)
  return found
}

interface Resolution {
  decisionId: string
  outcome: Outcome
  /** Of the decision's event: it grows from decision to decision about one account. */
  sequence: number
}

/**
 * Closes a case by a decision. A later decision about it, such as a reversal, replaces the outcome, in whatever order
 * the two arrive.
 * @returns its target, and whether reporters are to learn of it: it was open, or action is taken after all; undefined if
 * there is no such case
 */
export async function resolveCase (
  trx: Transaction<CaseTables>,
  id: string,
  { decisionId, outcome, sequence }: Resolution
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
      claimed_by = null, claimed_until = null, decision_sequence = ${sequence}
    from before where cases.id = before.id and decision_sequence <= ${sequence}
    returning before.is_for_reporters as "isForReporters"`.execute(trx)
  return { ...known, isForReporters: resolved?.isForReporters ?? false }
}

interface DecidedRestriction {
  scope: 'POSTING' | 'FITMATCH' | 'ALL'
  /** Null until an operator lifts it. */
  until: string | null
}

interface DecidedRestrictions {
  actions: { type: string, scope: DecidedRestriction['scope'] | null, until: string | null }[]
  /** Those that hold after the decision; undefined in events of older versions of identity. */
  restrictions?: DecidedRestriction[] | undefined
}

/**
 * What a decision changes in one part of the app.
 * @returns the restriction that holds now; null if none does; undefined if the decision changes nothing there
 */
export function restrictionAfter ({ actions, restrictions }: DecidedRestrictions, scope: 'POSTING' | 'FITMATCH') {
  const change = actions.find((each) =>
    (each.type === 'RESTRICT' && each.scope === scope) ||
    (each.type === 'LIFT' && (each.scope === scope || each.scope === 'ALL'))
  )
  if (!change) return
  if (!restrictions) return change.type === 'RESTRICT' ? { until: change.until } : null
  return restrictions.find((each) => each.scope === scope) ?? null
}
