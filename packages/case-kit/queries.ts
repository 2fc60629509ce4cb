import { sql, type Kysely } from 'kysely'
import { excerpt, hidesPictures } from './decisions.ts'
import type { CaseSummary, Report } from './schemas.ts'
import type { CaseTables } from './tables.ts'

const latest = sql`(
  select content from case_evidence where case_id = cases.id order by case_evidence.id desc limit 1) as latest`

// Each service with cases has a table of reports, with case_id and reason.
const columns = sql`
  id, target_type as "targetType", target_id as "targetId", account_id as "accountId", priority, due_at as "dueAt",
  version, reports_count as "reportsCount", is_restricted as "isRestricted", is_held as "isHeld",
  case when claimed_until > now() then claimed_by end as "claimedBy",
  case when claimed_until > now() then claimed_until end as "claimedUntil",
  outcome, decision_id as "decisionId", created_at as "createdAt", resolved_at as "resolvedAt",
  (select coalesce(content -> 'author' ->> 'name', content ->> 'displayName', content ->> 'name') from ${latest})
    as "personName",
  (select ${excerpt} from ${latest}) as excerpt,
  array(select distinct reason from reports where case_id = cases.id order by reason) as reasons`

interface CasePage {
  /** `<priority>:<id>` of the last case of the page before. */
  cursor?: { priority: number, id: string } | undefined
  accountId?: string | undefined
  limit: number
}

/** The open cases, the most urgent and then the oldest first; or all of one person, newest first. */
export async function listCases (db: Kysely<CaseTables>, { cursor, accountId, limit }: CasePage) {
  const after = cursor
    ? sql`and (priority < ${cursor.priority} or (priority = ${cursor.priority} and id > ${cursor.id}))`
    : sql``
  const { rows } = await (accountId === undefined
    ? sql<CaseSummary>`
        select ${columns} from cases where resolved_at is null ${after}
        order by priority desc, id limit ${sql.lit(limit + 1)}`
    : sql<CaseSummary>`
        select ${columns} from cases where account_id = ${accountId} order by id desc limit ${sql.lit(limit + 1)}`)
    .execute(db)
  return rows
}

/** One case with its evidence and the numbers of its files. */
export async function findCase (db: Kysely<CaseTables>, id: string) {
  const { rows: [found] } = await sql<CaseSummary & { hidesPictures: boolean }>`
    select ${columns}, ${hidesPictures} as "hidesPictures" from cases where id = ${id}`.execute(db)
  if (!found) return
  const { rows: evidence } = await sql<{ content: Record<string, unknown>, createdAt: Date }>`
    select content, created_at as "createdAt" from case_evidence where case_id = ${id} order by case_evidence.id`
    .execute(db)
  const { rows: files } = await sql<{ number: number, source: string, sha256: string | null }>`
    select number, source, encode(sha256, 'hex') as sha256 from case_files where case_id = ${id} order by number`
    .execute(db)
  return { ...found, evidence, files }
}

const MAX_REPORTS = 500

/** The reports of a case, without their authors: operators do not learn who reported. */
export async function listReports (db: Kysely<CaseTables>, caseId: string) {
  const { rows } = await sql<Report>`
    select reason, details, evidence, created_at as "createdAt" from reports
    where case_id = ${caseId} order by id limit ${sql.lit(MAX_REPORTS)}`.execute(db)
  return rows
}

/** The key of the copy of a file; of the original until it is copied. */
export async function findFileKey (db: Kysely<CaseTables>, caseId: string, number: number) {
  const { rows: [file] } = await sql<{ key: string, isRestricted: boolean }>`
    select case when copied_at is null then source else copy end as key, is_restricted as "isRestricted"
    from case_files join cases on cases.id = case_id where case_id = ${caseId} and number = ${number}`.execute(db)
  return file
}

const CLAIM_LIFETIME = '15 minutes'

/**
 * Marks a case as being decided by an operator, and takes it over from another one if `takesOver` is true. Of several
 * operators at once that do not take it over, one gets it.
 * @returns whether it is theirs
 */
export async function claimCase (
  db: Kysely<CaseTables>,
  id: string,
  { staffId, takesOver }: { staffId: string, takesOver: boolean }
) {
  const { rows } = await sql`
    update cases set claimed_by = ${staffId}, claimed_until = now() + ${CLAIM_LIFETIME}::interval
    where id = ${id} and resolved_at is null
      and (${takesOver} or claimed_by is null or claimed_by = ${staffId} or claimed_until < now()) returning id`
    .execute(db)
  return rows.length > 0
}

/** Extends the claim of an operator who looks at their case again. */
export async function extendClaim (db: Kysely<CaseTables>, id: string, staffId: string) {
  await sql`
    update cases set claimed_until = now() + ${CLAIM_LIFETIME}::interval
    where id = ${id} and claimed_by = ${staffId} and claimed_until > now() and resolved_at is null`.execute(db)
}
