import { randomUUIDv7 } from 'node:crypto'
import { deleteInChunks } from '@tandem/database-kit'
import { MAX_LEASE_WAIT_MS } from '@tandem/queue-kit'
import { sql, type Generated, type Kysely, type Transaction } from 'kysely'

export interface MailTables {
  mails: {
    id: string,
    account_id: Generated<string | null>,
    dedupe_key: string,
    recipient: string,
    rate_limited: boolean,
    rate_limit_key: Generated<string>,
    collapse_key: string | null,
    superseded: Generated<boolean>,
    status: Generated<'pending' | 'sending' | 'sent' | 'failed'>,
    subject: string | null,
    body_text: string | null,
    body_html: string | null,
    attempts: Generated<number>,
    claimed_until: Date | null,
    last_error: string | null,
    created_at: Generated<Date>,
    expires_at: Generated<Date>,
    sent_at: Date | null
  }
}

/** What the recipient reads, as `renderMail` returns it. */
export interface MailContent {
  subject: string
  text: string
  html: string
}

export interface Mail extends MailContent {
  /**
   * Names what the mail is about, such as `verification:<id of the code>`. One key gets one mail, however often it is
   * created.
   */
  dedupeKey: string
  recipient: string
  /** The account that the mail is about. Its mails are erased with it. */
  accountId?: string
  /**
   * Default true. Set it to false only for mails that nobody but the account's owner can cause: these are neither
   * counted nor held back. Otherwise an attacker could suppress the mail about a new password by requesting a few codes
   * first.
   */
  rateLimited?: boolean
  /**
   * Mails to a recipient are counted separately by this key, so that one kind of mail cannot use up the limit of
   * another.
   */
  rateLimitKey?: string
  /**
   * Only the newest mail with a collapse key is valid, such as the newest code of an account: it supersedes the earlier
   * ones, which are no longer sent. The caller must create two mails with the same key one after the other, for example
   * under a lock on the account.
   */
  collapseKey?: string
  /** How long the code or link in the mail is valid, as an interval. It is not sent later than that; by default a day. */
  lifetime?: string
}

const MAX_PER_HOUR = 3
const MAX_PER_DAY = 10

// Why mails are dropped before they are sent.
const SUPERSEDED = 'superseded by a newer mail'
const EXPIRED = 'expired before it could be sent'

/** The length of a worker's lease: longer than it takes to send a mail and mark it. */
export const LEASE_SECONDS = 45

/**
 * Writes a mail in the caller's transaction. After the commit, pass the id to `mailer.enqueue`.
 * A recipient gets at most 3 mails an hour and 10 a day for each rate limit key; one that expired unsent does not count.
 * The limit is exact under concurrency, because the recipient and key stay locked until the transaction ends. The
 * transaction must use Postgres's default isolation level, read committed, to see what the transaction before it wrote.
 * @returns the mail's id, or undefined if the dedupe key already has a mail or the recipient has reached a limit
 */
export async function createMail (
  trx: Transaction<MailTables>,
  mail: Mail
): Promise<string | undefined> {
  const {
    dedupeKey,
    recipient,
    accountId = null,
    subject,
    text,
    html,
    rateLimited = true,
    rateLimitKey = '',
    collapseKey = null,
    lifetime = '1 day'
  } = mail
  const id = randomUUIDv7()
  // A statement sees only what was committed before it began, so the lock needs a statement of its own.
  if (rateLimited) {
    await sql`select pg_advisory_xact_lock(hashtextextended('mails of ' || ${rateLimitKey} || ' to ' || lower(${recipient}), 0))`
      .execute(trx)
  }
  const { rows } = await sql<{ id: string }>`
    insert into mails (id, account_id, dedupe_key, recipient, rate_limited, rate_limit_key, collapse_key, subject, body_text, body_html, expires_at)
    select ${id}::uuid, ${accountId}::uuid, ${dedupeKey}, ${recipient}, ${rateLimited}::boolean, ${rateLimitKey}, ${collapseKey}::text, ${subject}, ${text}, ${html}, now() + ${lifetime}::interval
    where not ${rateLimited}::boolean or (
      select count(*) < ${MAX_PER_DAY}::int and count(*) filter (where created_at > now() - interval '1 hour') < ${MAX_PER_HOUR}::int
      from mails
      where rate_limited and rate_limit_key = ${rateLimitKey} and lower(recipient) = lower(${recipient}) and created_at > now() - interval '1 day'
        and not (status = 'failed' and last_error = ${EXPIRED})
    )
    on conflict (dedupe_key) do nothing
    returning id`.execute(trx)
  if (rows[0] && collapseKey !== null) await withdrawCollapsed(trx, collapseKey, id)
  return rows[0]?.id
}

/** A mail that is sent, or that failed for good. */
export interface FinishedMail {
  /** Its dedupe key is `<kind>:<subjectId>`. */
  kind: string
  subjectId: string
  accountId: string | null
}

const finishedColumns = sql`split_part(dedupe_key, ':', 1) as kind,
  substr(dedupe_key, strpos(dedupe_key, ':') + 1) as "subjectId", account_id as "accountId"`

/** Drops the mails about an account to one recipient that are not sent yet. One may just be sent, and still arrive. */
export async function withdrawMails (
  trx: Transaction<MailTables>,
  { accountId, recipient }: { accountId: string, recipient: string }
) {
  await sql`
    update mails set superseded = true
    where account_id = ${accountId} and lower(recipient) = lower(${recipient}) and status in ('pending', 'sending')`
    .execute(trx)
}

/**
 * Drops the mails with a collapse key that are not sent yet, except the newest if it is named. One may just be sent, and
 * still arrive.
 */
export async function withdrawCollapsed (
  trx: Transaction<MailTables>,
  collapseKey: string,
  newestId: string | null = null
) {
  await sql`
    update mails set superseded = true
    where collapse_key = ${collapseKey} and id is distinct from ${newestId}::uuid and status in ('pending', 'sending')`
    .execute(trx)
}

/** Fails a mail that is superseded or has expired, unless it is being sent. @returns the mail and why, if it did */
export async function dropMail<Tables extends MailTables> (trx: Transaction<Tables>, id: string) {
  const { rows } = await sql<FinishedMail & { reason: string }>`
    update mails set status = 'failed', last_error = case when superseded then ${SUPERSEDED} else ${EXPIRED} end,
      claimed_until = null, subject = null, body_text = null, body_html = null
    where id = ${id} and (superseded or expires_at <= now())
      and (status = 'pending' or (status = 'sending' and claimed_until < now()))
    returning last_error as reason, ${finishedColumns}`.execute(trx)
  return rows[0]
}

/**
 * Claims the mail for this worker alone, for `LEASE_SECONDS`. A mail cannot be claimed while an earlier one with its
 * collapse key is being sent, because the earlier one could arrive after it.
 */
export async function claimMail<Tables extends MailTables> (db: Kysely<Tables>, id: string) {
  const { rows } = await sql<
    { dedupeKey: string, recipient: string, subject: string, text: string, html: string, attempts: number }
  >`
    update mails set status = 'sending', attempts = attempts + 1, claimed_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where id = ${id} and not superseded and (status = 'pending' or (status = 'sending' and claimed_until < now()))
      and not ${isEarlierBeingSent}
    returning dedupe_key as "dedupeKey", recipient, subject, body_text as text, body_html as html, attempts`
    .execute(db)
  return rows[0]
}

const isEarlierBeingSent = sql`exists (
  select from mails earlier where earlier.collapse_key = mails.collapse_key and earlier.superseded
    and earlier.status = 'sending' and earlier.claimed_until > now())`

const POLL_INTERVAL_MS = 500

/**
 * How long to wait before another attempt to claim a mail: until the other worker's lease ends, but at most
 * `MAX_LEASE_WAIT_MS`, or until the earlier mail with its collapse key may have been sent. Undefined if the mail is
 * already sent or failed.
 */
export async function findRetryDelayMs<Tables extends MailTables> (db: Kysely<Tables>, id: string) {
  const { rows } = await sql<{ delayMs: number }>`
    select (case when status = 'sending'
      then least(extract(epoch from claimed_until - now()) * 1000 + 1000, ${sql.lit(MAX_LEASE_WAIT_MS)})
      else ${sql.lit(POLL_INTERVAL_MS)}
    end)::float8 as "delayMs"
    from mails where id = ${id} and status in ('pending', 'sending')`.execute(db)
  return rows[0]?.delayMs
}

export async function markSent<Tables extends MailTables> (trx: Transaction<Tables>, id: string) {
  const { rows } = await sql<FinishedMail>`
    update mails set status = 'sent', sent_at = now(), last_error = null, claimed_until = null,
      subject = null, body_text = null, body_html = null
    where id = ${id} returning ${finishedColumns}`.execute(trx)
  return rows[0]
}

/** Like `markPending`, for good. */
export async function markFailed<Tables extends MailTables> (
  trx: Transaction<Tables>,
  id: string,
  { attempts, error }: { attempts: number, error: string }
) {
  const { rows } = await sql<FinishedMail>`
    update mails set status = 'failed', last_error = ${error}, claimed_until = null,
      subject = null, body_text = null, body_html = null
    where id = ${id} and status = 'sending' and attempts = ${attempts} returning ${finishedColumns}`.execute(trx)
  return rows[0]
}

/** Does nothing if another worker has claimed the mail since this one did, whose claim was the attempt `attempts`. */
export async function markPending<Tables extends MailTables> (
  db: Kysely<Tables>,
  id: string,
  { attempts, error }: { attempts: number, error: string }
) {
  await sql`
    update mails set status = 'pending', last_error = ${error}, claimed_until = null
    where id = ${id} and status = 'sending' and attempts = ${attempts}`.execute(db)
}

/** The unsent mails that no worker holds a lease on, ordered by id. */
export async function listPending<Tables extends MailTables> (
  db: Kysely<Tables>,
  { olderThanSeconds, limit, after }: { olderThanSeconds: number, limit: number, after: string | undefined }
) {
  const { rows } = await sql<{ id: string }>`
    select id from mails
    where status in ('pending', 'sending') and (status = 'pending' or claimed_until < now())
      and created_at <= now() - make_interval(secs => ${olderThanSeconds})
      and id > ${after ?? '00000000-0000-0000-0000-000000000000'}
    order by id limit ${sql.lit(limit)}`.execute(db)
  return rows.map((row) => row.id)
}

/** Deletes sent and failed mails that were created more than 30 days ago. */
export const deleteOldMails = async (db: Kysely<MailTables>) =>
  await deleteInChunks(
    db,
    'mails',
    sql`created_at < now() - interval '30 days' and status in ('sent', 'failed') order by created_at`
  )

const MAX_LISTED = 50

/** The latest mails about an account, without their texts: for operators who answer the question where a mail is. */
export async function listMailsOf (db: Kysely<MailTables>, accountId: string) {
  const { rows } = await sql<{
    id: string,
    kind: string,
    status: 'pending' | 'sending' | 'sent' | 'failed',
    attempts: number,
    createdAt: Date,
    sentAt: Date | null
  }>`
    select id, split_part(dedupe_key, ':', 1) as kind, status, attempts, created_at as "createdAt", sent_at as "sentAt"
    from mails where account_id = ${accountId} order by id desc limit ${sql.lit(MAX_LISTED)}`.execute(db)
  return rows
}
