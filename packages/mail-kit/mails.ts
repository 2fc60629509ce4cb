import { randomUUIDv7 } from 'node:crypto'
import { sql, type Generated, type Kysely, type Transaction } from 'kysely'

export interface MailTables {
  mails: {
    id: string
    cause: string
    recipient: string
    capped: boolean
    budget: Generated<string>
    topic: string | null
    superseded: Generated<boolean>
    status: Generated<'pending' | 'sending' | 'sent' | 'failed'>
    subject: string | null
    body_text: string | null
    body_html: string | null
    attempts: Generated<number>
    claimed_until: Date | null
    last_error: string | null
    created_at: Generated<Date>
    sent_at: Date | null
  }
}

/** A mail ready to read, as `frame` makes it. */
export interface Letter { subject: string, text: string, html: string }

export interface Mail extends Letter {
  /** What the mail is about, such as `verification:<id of the code>`: a cause gets one mail, however often it is queued. */
  cause: string
  recipient: string
  /**
   * True unless told. False for a notice that a stranger cannot bring about: it is neither counted nor held back, so that nobody
   * can silence the news of a new password by asking for a few codes first.
   */
  capped?: boolean
  /** Which mails to a recipient are counted together, such as those of one kind: others cannot use up what these may need. */
  budget?: string
  /**
   * What only the newest mail is right about, such as the code of an account: with it, earlier mails of the topic are not sent any more.
   * The caller makes sure that two mails of a topic are queued one after the other, as by a lock on what they are about.
   */
  topic?: string
}

const HOURLY = 3
const DAILY = 10

/** A worker's lease in seconds: longer than a mail may take to be sent and marked. */
export const LEASE = 45

/**
 * Writes a mail in the caller's transaction; once that is committed, offer the id to the mailer.
 * Of each budget a recipient gets 3 mails an hour and 10 a day at most, exactly, whoever asks at once: both are locked until the transaction ends.
 * The transaction must be of Postgres's default level, read committed, to see what the one before it wrote.
 * @returns the mail's id, or undefined when the cause has had its mail or the recipient has had enough
 */
export async function queueMail<Tables extends MailTables> (trx: Transaction<Tables>, mail: Mail): Promise<string | undefined> {
  const { cause, recipient, subject, text, html, capped = true, budget = '', topic = null } = mail
  const id = randomUUIDv7()
  // A statement sees what was committed when it began, so the lock takes a statement of its own.
  if (capped) await sql`select pg_advisory_xact_lock(hashtextextended('mails of ' || ${budget} || ' to ' || lower(${recipient}), 0))`.execute(trx)
  const { rows } = await sql<{ id: string }>`
    insert into mails (id, cause, recipient, capped, budget, topic, subject, body_text, body_html)
    select ${id}::uuid, ${cause}, ${recipient}, ${capped}::boolean, ${budget}, ${topic}::text, ${subject}, ${text}, ${html}
    where not ${capped}::boolean or (
      select count(*) < ${DAILY}::int and count(*) filter (where created_at > now() - interval '1 hour') < ${HOURLY}::int
      from mails where capped and budget = ${budget} and lower(recipient) = lower(${recipient}) and created_at > now() - interval '1 day'
    )
    on conflict (cause) do nothing
    returning id`.execute(trx)
  if (rows[0] && topic !== null) await supersede(trx, topic, id)
  return rows[0]?.id
}

const SUPERSEDED = 'superseded by a newer mail'

/** A mail that is being sent may still be refused: it is marked, so that it is not tried again. */
async function supersede<Tables extends MailTables> (trx: Transaction<Tables>, topic: string, newest: string) {
  await sql`
    update mails set
      superseded = true,
      status = case when status = 'pending' then 'failed' else status end,
      last_error = case when status = 'pending' then ${SUPERSEDED} else last_error end,
      subject = case when status = 'pending' then null else subject end,
      body_text = case when status = 'pending' then null else body_text end,
      body_html = case when status = 'pending' then null else body_html end
    where topic = ${topic} and id <> ${newest}::uuid and status in ('pending', 'sending')`.execute(trx)
}

/** Takes away every mail to `recipient`, for an account that is erased. */
export async function eraseMails<Tables extends MailTables> (trx: Kysely<Tables>, recipient: string) {
  await sql`delete from mails where lower(recipient) = lower(${recipient})`.execute(trx)
}

/** Takes the mail for this worker alone, for `LEASE` seconds; not while an earlier one of its topic is on its way, which would arrive after it. */
export async function claimMail (db: Kysely<MailTables>, id: string) {
  await sql`
    update mails set status = 'failed', last_error = ${SUPERSEDED}, claimed_until = null, subject = null, body_text = null, body_html = null
    where id = ${id} and superseded and (status = 'pending' or (status = 'sending' and claimed_until < now()))`.execute(db)
  const { rows } = await sql<{ cause: string, recipient: string, subject: string, text: string, html: string, attempts: number, hours: number }>`
    update mails set status = 'sending', attempts = attempts + 1, claimed_until = now() + make_interval(secs => ${LEASE})
    where id = ${id} and (status = 'pending' or (status = 'sending' and claimed_until < now())) and not ${isBehindAnother}
    returning cause, recipient, subject, body_text as text, body_html as html, attempts,
      (extract(epoch from now() - created_at) / 3600)::float8 as hours`.execute(db)
  return rows[0]
}

const isBehindAnother = sql`exists (
  select from mails earlier where earlier.topic = mails.topic and earlier.superseded and not mails.superseded
    and earlier.status = 'sending' and earlier.claimed_until > now())`

const MS_BETWEEN_LOOKS = 500

/** In how many milliseconds to try again to claim a mail: once another worker's lease is over, or the earlier one of its topic; undefined when it is over itself. */
export async function findWait (db: Kysely<MailTables>, id: string) {
  const { rows } = await sql<{ wait: number }>`
    select (case when status = 'sending' then extract(epoch from claimed_until - now()) * 1000 + 1000 else ${sql.lit(MS_BETWEEN_LOOKS)} end)::float8 as wait
    from mails where id = ${id} and status in ('pending', 'sending')`.execute(db)
  return rows[0]?.wait
}

export async function markSent (db: Kysely<MailTables>, id: string) {
  await sql`update mails set status = 'sent', sent_at = now(), last_error = null, claimed_until = null,
    subject = null, body_text = null, body_html = null where id = ${id}`.execute(db)
}

export async function markFailed (db: Kysely<MailTables>, id: string, error: string) {
  await sql`update mails set status = 'failed', last_error = ${error}, claimed_until = null,
    subject = null, body_text = null, body_html = null where id = ${id}`.execute(db)
}

export async function markPending (db: Kysely<MailTables>, id: string, error: string) {
  await sql`update mails set status = 'pending', last_error = ${error}, claimed_until = null where id = ${id}`.execute(db)
}

/** The mails that no worker holds, in the order of their ids. */
export async function listPending (db: Kysely<MailTables>, { olderThanSeconds, limit, after }: { olderThanSeconds: number, limit: number, after: string | undefined }) {
  const { rows } = await sql<{ id: string }>`
    select id from mails
    where status in ('pending', 'sending') and (status = 'pending' or claimed_until < now())
      and created_at <= now() - make_interval(secs => ${olderThanSeconds})
      and id > ${after ?? '00000000-0000-0000-0000-000000000000'}
    order by id limit ${sql.lit(limit)}`.execute(db)
  return rows.map((row) => row.id)
}

/** Deletes what has been over for 30 days, a thousand rows at a time. */
export async function clearOldMails (db: Kysely<MailTables>) {
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      delete from mails where id in (
        select id from mails where created_at < now() - interval '30 days' and status in ('sent', 'failed') limit 1000
      )`.execute(db)
    if (numAffectedRows < 1000n) return
  }
}
