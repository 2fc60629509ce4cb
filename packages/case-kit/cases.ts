import { createHash } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { createMediaKey } from '@tandem/media-kit'
import { isVideoKey } from '@tandem/media-url-kit'
import type { CaseTables, Priority } from './tables.ts'

/** What was reported. */
export interface Target {
  /** Such as POST. */
  type: string
  id: string
  /** The person that a report of it is about. */
  accountId: string
}

export interface Evidence {
  /** The reported thing itself, by which a change of it is recognized. */
  content: object
  /** What is around it, such as its author's name or the comments before it. */
  context: object
  /** The people besides the reported one who wrote or planned what it shows, or may have. */
  others: string[]
  /** The keys of its images and videos that are stored here. */
  files: string[]
}

/** How long a case of each priority may wait. */
const DUE_AFTER = { 3: '24 hours', 2: '48 hours', 1: '7 days' } as const satisfies Record<Priority, string>
const DISMISSED_FOR = '30 days'

/**
 * Locks everything that concerns a target until the end of the transaction, so that reports and decisions about it wait
 * for each other.
 */
export async function lockTarget (trx: Transaction<CaseTables>, { type, id }: Pick<Target, 'type' | 'id'>) {
  await sql`select pg_advisory_xact_lock(hashtext('case'), hashtext(${`${type} ${id}`}))`.execute(trx)
}

/**
 * Adds a report to the open case of its target, or opens one, and freezes the evidence. The caller holds the lock of the
 * target.
 * @returns the id of the case
 */
export async function addToCase (
  trx: Transaction<CaseTables>,
  target: Target,
  { priority, isRestricted, evidence }: { priority: Priority, isRestricted: boolean, evidence: Evidence }
) {
  const digest = digestOf(evidence)
  const { rows } = await sql<{ id: string }>`
    insert into cases (target_type, target_id, account_id, priority, due_at, reports_count, evidence_digest, is_restricted)
    values (${target.type}, ${target.id}, ${target.accountId}, ${priority}, now() + ${DUE_AFTER[priority]}::interval, 1,
      ${digest}, ${isRestricted})
    on conflict (target_type, target_id) where resolved_at is null do update set
      reports_count = cases.reports_count + 1,
      version = cases.version
        + (excluded.priority > cases.priority or excluded.evidence_digest <> cases.evidence_digest)::int,
      priority = greatest(cases.priority, excluded.priority),
      due_at = least(cases.due_at, excluded.due_at),
      evidence_digest = excluded.evidence_digest,
      is_restricted = cases.is_restricted or excluded.is_restricted
    returning id`.execute(trx)
  const { id } = rows[0]!
  await freeze(trx, { caseId: id, digest, ownerId: target.accountId, evidence })
  return id
}

const digestOf = ({ content }: Evidence) => createHash('sha256').update(JSON.stringify(content)).digest()

/**
 * Counts a report of something that was dismissed within 30 days and has not changed since. The caller holds the lock of
 * the target.
 * @returns the id of the dismissed case, if there is one
 */
export async function countOnDismissed (trx: Transaction<CaseTables>, { type, id }: Target, evidence: Evidence) {
  const { rows } = await sql<{ id: string }>`
    update cases set reports_count = reports_count + 1 where id = (
      select id from cases
      where target_type = ${type} and target_id = ${id} and outcome = 'NO_VIOLATION' and evidence_digest = ${
    digestOf(evidence)
  }
        and resolved_at > now() - ${DISMISSED_FOR}::interval
      order by resolved_at desc limit 1
    ) and not exists (
      select from cases open where open.target_type = ${type} and open.target_id = ${id} and open.resolved_at is null
    ) returning id`.execute(trx)
  return rows[0]?.id
}

async function freeze (
  trx: Transaction<CaseTables>,
  { caseId, digest, ownerId, evidence: { content, context, others, files } }: {
    caseId: string,
    digest: Buffer,
    ownerId: string,
    evidence: Evidence
  }
) {
  await sql`
    insert into case_evidence (case_id, digest, content, others)
    values (${caseId}, ${digest}, ${JSON.stringify({ ...content, ...context })},
      array_remove(${[...new Set(others)]}::uuid[], ${ownerId}::uuid))
    on conflict (case_id, digest) do nothing`.execute(trx)
  const copies = files.map((file) => createMediaKey('private', isVideoKey(file) ? 'mp4' : 'webp'))
  await sql`
    insert into case_files (case_id, number, source, owner_id, copy)
    select ${caseId}, present.count + row_number() over (), source, ${ownerId}, copy
    from unnest(${files}::text[], ${copies}::text[]) as image (source, copy),
      (select coalesce(max(number), 0) as count from case_files where case_id = ${caseId}) as present
    where not exists (select from case_files where case_id = ${caseId} and case_files.source = image.source)
    on conflict do nothing`.execute(trx)
}
