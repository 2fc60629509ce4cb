import { sql } from 'kysely'
import { record } from '@tandem/bus-kit'
import { PasswordChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { digestOfReset } from '../codes/requests.ts'
import { InvalidCredentials, InvalidResetToken, PasswordAlreadySet, UserNotFound } from '../errors.ts'
import type { Db } from '../schema.ts'
import { endSessions } from '../sessions/actions.ts'

/** Sets the first password of an account that has none. @throws UserNotFound, PasswordAlreadySet */
export async function setInitialPassword ({ db, hashing }: Deps, accountId: string, password: string) {
  const account = await db.selectFrom('accounts').where('id', '=', accountId).select('password_hash').executeTakeFirst()
  if (!account) throw new UserNotFound()
  if (account.password_hash) throw new PasswordAlreadySet()

  const hash = await hashing.hash(password)
  await db.transaction().execute(async (trx) => {
    const set = await trx.updateTable('accounts').set({ password_hash: hash, updated_at: sql`now()` })
      .where('id', '=', accountId)
      .where('password_hash', 'is', null)
      .returning('id')
      .executeTakeFirst()
    if (!set) throw new PasswordAlreadySet()
    await record(trx, PasswordChanged, accountId, { accountId, how: 'INITIAL' })
  })
}

interface Change { accountId: string, sessionId: string, currentPassword: string, password: string }

/** Changes a password by the old one; every other session ends. @throws InvalidCredentials */
export async function changePassword ({ db, hashing }: Deps, { accountId, sessionId, currentPassword, password }: Change) {
  const account = await db.selectFrom('accounts').where('id', '=', accountId).select('password_hash').executeTakeFirst()
  if (!await hashing.matches(currentPassword, account?.password_hash)) throw new InvalidCredentials()

  const hash = await hashing.hash(password)
  await db.transaction().execute(async (trx) => {
    const changed = await trx.updateTable('accounts').set({ password_hash: hash, updated_at: sql`now()` })
      .where('id', '=', accountId)
      .where('password_hash', '=', account?.password_hash ?? null)
      .returning('id')
      .executeTakeFirst()
    if (!changed) throw new InvalidCredentials()
    await endSessions(trx, { accountId, except: sessionId })
    await record(trx, PasswordChanged, accountId, { accountId, how: 'CHANGED' })
  })
}

/** Whether a link from a mail is still good. */
export async function isResetGood (db: Db, { email, token }: { email: string, token: string }) {
  const reset = await db.selectFrom('password_resets').innerJoin('accounts', 'accounts.id', 'account_id')
    .where('email', '=', email)
    .where('digest', '=', digestOfReset(token))
    .where('expires_at', '>', sql<Date>`now()`)
    .select('account_id')
    .executeTakeFirst()
  return reset !== undefined
}

/** Sets a password by the link from a mail, which is good once; every session ends. @throws InvalidResetToken */
export async function resetPassword ({ db, hashing }: Deps, { email, token, password }: { email: string, token: string, password: string }) {
  if (!await isResetGood(db, { email, token })) throw new InvalidResetToken()
  const hash = await hashing.hash(password)
  await db.transaction().execute(async (trx) => {
    const taken = await trx.deleteFrom('password_resets')
      .where('account_id', '=', (from) => from.selectFrom('accounts').select('id').where('email', '=', email))
      .where('digest', '=', digestOfReset(token))
      .where('expires_at', '>', sql<Date>`now()`)
      .returning('account_id')
      .executeTakeFirst()
    if (!taken) throw new InvalidResetToken()
    const accountId = taken.account_id
    await trx.updateTable('accounts').set({ password_hash: hash, updated_at: sql`now()` }).where('id', '=', accountId).execute()
    await endSessions(trx, { accountId })
    await record(trx, PasswordChanged, accountId, { accountId, how: 'RESET' })
  })
}
