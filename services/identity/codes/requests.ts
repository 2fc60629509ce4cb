import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { queueMail, type Mailer } from '@tandem/mail-kit'
import { createQueue, type Queue } from '@tandem/queue-kit'
import type { Log } from '@tandem/service-kit'
import { lettersIn } from '../mails/letters.ts'
import type { Db, Purpose, Tables, Trx } from '../schema.ts'
import type { Secrets } from '../secrets.ts'
import { makeCode, putCode } from './actions.ts'

export interface MailRequest { kind: Purpose | 'RESET', email: string, network: string }

export interface MailRequests {
  /**
   * Asks for a mail to an address that may or may not have an account. It takes as long for either, because what there is
   * to do is found out afterwards; once this returns, the request is not lost.
   */
  ask (request: MailRequest): Promise<void>
  start (): void
  close (): Promise<void>
}

interface Options { db: Db, secrets: Secrets, mailer: Mailer, redisUrl: string, publicUrl: string, log: Log }

export function createMailRequests ({ db, secrets, mailer, redisUrl, publicUrl, log }: Options): MailRequests {
  const queue: Queue = createQueue({ name: 'identity-mail-requests', redisUrl, log, work: carryOut, pending: (wanted) => listRequests(db, wanted) })

  async function carryOut (id: string) {
    const mail = await db.transaction().execute(async (trx) => {
      const request = await trx.deleteFrom('mail_requests').where('id', '=', id).returningAll().executeTakeFirst()
      return request && await writeMail(trx, secrets, publicUrl, request)
    })
    await mailer.offer([mail])
  }

  return {
    async ask (request) {
      const { id } = await db.insertInto('mail_requests').values(request).returning('id').executeTakeFirstOrThrow()
      void queue.offer([id])
    },
    start: queue.start,
    close: queue.close
  }
}

type Row = Omit<Tables['mail_requests'], 'id' | 'created_at'> & { id: string }

/** Queues the mail that a request is for, if there is one; returns its id. */
async function writeMail (trx: Trx, secrets: Secrets, publicUrl: string, { id, kind, email, network }: Row) {
  const account = await trx.selectFrom('accounts').where('email', '=', email)
    .select(['id', 'name', 'locale', 'password_hash', 'email_verified_at'])
    .forUpdate()
    .executeTakeFirst()
  if (!account) return
  if (kind === 'VERIFY' && account.email_verified_at) return
  if (kind === 'RESET' && !account.password_hash) return

  const letters = lettersIn(account.locale)
  const cause = `${kind.toLowerCase()}:${id}`
  if (kind === 'RESET') {
    const token = randomBytes(32).toString('base64url')
    const url = `${publicUrl}/reset-password?${new URLSearchParams({ token, email }).toString()}`
    const mail = await queueMail(trx, { cause, recipient: email, ...letters.reset(account.name, url) })
    if (mail) await putReset(trx, account.id, token)
    return mail
  }

  const code = makeCode()
  const letter = kind === 'VERIFY' ? letters.verification(account.name, code) : letters.signIn(account.name, code)
  const mail = await queueMail(trx, { cause, recipient: email, ...letter })
  // A person who gets no further mail today keeps the code of the last one.
  if (mail) await putCode(trx, secrets, { accountId: account.id, purpose: kind, code, network })
  return mail
}

async function putReset (trx: Trx, accountId: string, token: string) {
  const fresh = { digest: digestOfReset(token), expires_at: sql<Date>`now() + interval '1 hour'` }
  await trx.insertInto('password_resets').values({ account_id: accountId, ...fresh })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(fresh))
    .execute()
}

/** Reset tokens are 256 random bits, so a plain digest is enough to know them by. */
export const digestOfReset = (token: string) => createHash('sha256').update(token).digest()

async function listRequests (db: Db, { olderThanSeconds, limit, after }: { olderThanSeconds: number, limit: number, after: string | undefined }) {
  const requests = await db.selectFrom('mail_requests').select('id')
    .where('created_at', '<=', sql<Date>`now() - make_interval(secs => ${olderThanSeconds})`)
    .$if(after !== undefined, (query) => query.where('id', '>', after ?? ''))
    .orderBy('id')
    .limit(limit)
    .execute()
  return requests.map((request) => request.id)
}
