import { randomUUID } from 'node:crypto'
import { sql, type SqlBool } from 'kysely'
import { RateLimited } from '@tandem/http-kit'
import { renderMail } from '@tandem/mail-kit'
import { claimAttempt } from '../attempt-limit.ts'
import { redeemCode } from '../codes/actions.ts'
import { mailCode } from '../codes/mails.ts'
import type { Deps } from '../deps.ts'
import { InvalidCode, InvalidCredentials, ProofRequired, UserNotFound } from '../errors.ts'
import { findPassword } from '../passwords/queries.ts'
import { withVerifiedPassword } from '../passwords/throttle.ts'
import { claimToken, providerErrors } from '../providers/actions.ts'
import { digestOfToken, generateToken } from '../random-tokens.ts'
import { lockCaller, type Caller } from '../sessions/caller.ts'
import { isKnownNetwork } from '../sessions/networks.ts'
import type { Db, ProofMethod, ProofPurpose, Provider, Trx } from '../tables.ts'

const LIFETIME = '10 minutes'
const HOUR_SECONDS = 3_600

interface Request {
  caller: Caller
  purpose: ProofPurpose
  network: string
}

/** What a caller shows to prove who they are. */
export type Evidence =
  | { password: string }
  | { code: string }
  | { provider: Provider, identityToken: string }

/**
 * Exchanges evidence for a proof. Five attempts in 15 minutes, right or wrong.
 * @throws RateLimited, InvalidCredentials, InvalidCode, InvalidProviderAToken, InvalidProviderBToken
 * @throws InvalidAccessToken, UserNotFound, TooBusy
 */
export async function prove (deps: Deps, request: Request, evidence: Evidence) {
  const { accountId } = request.caller
  const known = await findPassword(deps.db, accountId)
  if (!known) throw new UserNotFound()
  await claimAttempt(deps.db, 'proof_attempts', accountId)
  if ('password' in evidence) return await proveByPassword(deps, request, { ...known, password: evidence.password })
  if ('code' in evidence) return await proveByCode(deps, request, evidence.code)
  return await proveByProvider(deps, request, evidence)
}

async function proveByPassword (
  deps: Deps,
  request: Request,
  { email, hash, password }: { email: string, hash: string | null, password: string }
) {
  const { caller: { accountId }, network } = request
  return await withVerifiedPassword(deps, {
    email,
    password,
    network,
    known: {
      id: accountId,
      passwordHash: hash,
      hasKnownNetwork: await isKnownNetwork(deps.db, accountId, network)
    },
    createError: () => new InvalidCredentials()
  }, {
    hashNew: async () => undefined,
    work: async (trx) => {
      await lockCaller(trx, request.caller)
      return await insertProof(trx, request, 'PASSWORD')
    }
  })
}

async function proveByCode ({ db, secrets }: Deps, request: Request, code: string) {
  const { caller, purpose } = request
  const proof = await db.transaction().execute(async (trx) => {
    const { id: accountId } = await lockCaller(trx, caller)
    if (!await redeemCode(trx, secrets, { accountId, purpose, code })) return
    return await insertProof(trx, request, 'CODE')
  })
  // Thrown after the commit, because the attempt must be counted.
  if (!proof) throw new InvalidCode()
  return proof
}

async function proveByProvider (
  { db, providers }: Deps,
  request: Request,
  { provider, identityToken }: { provider: Provider, identityToken: string }
) {
  const { Invalid } = providerErrors[provider]
  const identity = await providers[provider](identityToken)
  if (!identity) throw new Invalid()
  return await db.transaction().execute(async (trx) => {
    if (identity.singleUseDigest && !await claimToken(trx, identity.singleUseDigest)) throw new Invalid()
    const { id: accountId } = await lockCaller(trx, request.caller)
    const link = await trx.selectFrom('provider_links')
      .where('provider', '=', provider).where('subject', '=', identity.subject)
      .where('account_id', '=', accountId)
      .select('account_id').executeTakeFirst()
    if (!link) throw new Invalid()
    return await insertProof(trx, request, provider)
  })
}

async function insertProof (trx: Trx, { caller, purpose }: Request, method: ProofMethod) {
  const proof = generateToken()
  const { expiresAt } = await trx.insertInto('proofs')
    .values({
      digest: digestOfToken(proof),
      account_id: caller.accountId,
      session_id: caller.sessionId,
      purpose,
      method,
      expires_at: sql<Date>`now() + ${LIFETIME}::interval`
    })
    .returning('expires_at as expiresAt').executeTakeFirstOrThrow()
  return { proof, expiresAt }
}

/**
 * Uses a proof up, in the transaction of what it allows: if that fails, the proof stays valid. `lockCaller` comes first.
 * @returns how the caller proved who they are
 * @throws ProofRequired if it is not a valid proof of this session for this purpose
 */
export async function claimProof (
  trx: Trx,
  caller: Caller,
  { purpose, proof }: { purpose: ProofPurpose, proof: string | undefined }
) {
  if (proof === undefined) throw new ProofRequired()
  const claimed = await trx.deleteFrom('proofs').where(isProof(caller, purpose, proof))
    .returning('method').executeTakeFirst()
  if (!claimed) throw new ProofRequired()
  return claimed.method
}

/** Whether `claimProof` would take a proof now. For what must not be done without one, before the transaction. */
export async function hasProof (
  db: Db,
  caller: Caller,
  { purpose, proof }: { purpose: ProofPurpose, proof: string | undefined }
) {
  if (proof === undefined) return false
  const found = await db.selectFrom('proofs').where(isProof(caller, purpose, proof)).select('method').executeTakeFirst()
  return found !== undefined
}

const isProof = ({ accountId, sessionId }: Caller, purpose: ProofPurpose, proof: string) =>
  sql<SqlBool>`digest = ${digestOfToken(proof)} and account_id = ${accountId} and session_id = ${sessionId}
    and purpose = ${purpose} and expires_at > now()`

/** Mails a code for a proof to the account's own address. Three an hour. @throws RateLimited, InvalidAccessToken */
export async function mailProofCode ({ db, secrets, mailer }: Deps, caller: Caller, purpose: ProofPurpose) {
  const { accountId } = caller
  const mail = await db.transaction().execute(async (trx) => {
    const account = await lockCaller(trx, caller)
    const created = await mailCode(trx, secrets, {
      accountId,
      purpose,
      recipient: account.email,
      dedupeKey: `proof:${randomUUID()}`,
      // One limit for all purposes, apart from the codes and links of sign-in.
      rateLimitKey: 'PROOF'
    }, (code) => renderMail({ kind: 'proof', locale: account.locale, params: { purpose }, code }))
    if (!created) throw new RateLimited(HOUR_SECONDS)
    return created
  })
  void mailer.enqueue([mail])
}
