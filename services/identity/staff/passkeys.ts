import { readBrand } from '@tandem/brand-kit'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { sql } from 'kysely'
import type { Deps } from '../deps.ts'
import { InvalidInvitation, InvalidPasskey } from '../errors.ts'
import { digestOfToken } from '../random-tokens.ts'
import type { Db, Trx } from '../tables.ts'
import { redeemChallenge, storeChallenge } from './challenges.ts'
import { notifyAdmins, writeOperatorMail } from './invitations.ts'
import { endStaffSessionsOf, startStaffSession } from './sessions.ts'

type PasskeyDeps = Pick<Deps, 'db' | 'console'>

// Loaded when an operator first needs it: it takes 0.11 s of CPU, a sixth of what all modules took.
const loadWebauthn = async () => await import('@simplewebauthn/server')

/** The options with which a browser creates a passkey, for an operator with an invitation. @throws InvalidInvitation */
export async function beginEnrollment ({ db, console }: PasskeyDeps, token: string) {
  const { id, email } = await readInvited(db, token)
  const { generateRegistrationOptions } = await loadWebauthn()
  const options = await generateRegistrationOptions({
    rpName: `${readBrand().brand.name} console`,
    rpID: console.host,
    userID: new TextEncoder().encode(id),
    userName: email,
    attestationType: 'none',
    // Found by the browser without a name, and only with a fingerprint, a face or a PIN.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' }
  })
  await storeChallenge(db, { challenge: options.challenge, purpose: 'ENROLL', staffId: id })
  return options
}

async function readInvited (db: Db, token: string) {
  const invited = await db.selectFrom('staff_invitations').innerJoin('staff', 'staff.id', 'staff_id')
    .where('digest', '=', digestOfToken(token)).where('expires_at', '>', sql<Date>`now()`)
    .where('disabled_at', 'is', null)
    .select(['staff.id', 'email', 'role']).executeTakeFirst()
  if (!invited) throw new InvalidInvitation()
  return invited
}

/**
 * Stores the passkey of an invited operator, and starts a session. A passkey from before ends, and its sessions. All
 * administrators are notified. @throws InvalidInvitation, InvalidPasskey
 */
export async function enroll (
  { db, console, mailer }: PasskeyDeps & Pick<Deps, 'mailer'>,
  { token, response, language }: { token: string, response: RegistrationResponseJSON, language: string }
) {
  const { verifyRegistrationResponse } = await loadWebauthn()
  const { started, mails } = await db.transaction().execute(async (trx) => {
    const invited = await readInvited(trx, token)
    const { challenge, staffId } = await redeemChallenge(trx, 'ENROLL', response.response.clientDataJSON)
    if (staffId !== invited.id) throw new InvalidPasskey()
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: console.origin,
      expectedRPID: console.host,
      requireUserVerification: true
    }).catch(() => ({ verified: false as const, registrationInfo: undefined }))
    if (!verified) throw new InvalidPasskey()
    const { credential } = registrationInfo
    const used = await trx.deleteFrom('staff_invitations').where('digest', '=', digestOfToken(token))
      .returning('staff_id').executeTakeFirst()
    if (!used) throw new InvalidInvitation()
    await trx.deleteFrom('passkeys').where('staff_id', '=', staffId).execute()
    await endStaffSessionsOf(trx, staffId)
    await trx.insertInto('passkeys').values({
      id: credential.id,
      staff_id: staffId,
      public_key: Buffer.from(credential.publicKey),
      counter: credential.counter,
      transports: credential.transports ?? []
    }).execute()
    return {
      started: await startStaffSession(trx, staffId),
      mails: await notifyAdmins(trx, writeOperatorMail('operatorEnrolled', language, invited), [invited.email])
    }
  })
  void mailer.enqueue(mails)
  return started
}

/** The options with which a browser finds and uses a passkey. @param staffId whose, if that is known */
export async function beginUse ({ db, console }: PasskeyDeps, staffId: string | null) {
  const { generateAuthenticationOptions } = await loadWebauthn()
  const options = await generateAuthenticationOptions({ rpID: console.host, userVerification: 'required' })
  await storeChallenge(db, { challenge: options.challenge, purpose: staffId ? 'PROVE' : 'SIGN_IN', staffId })
  return options
}

/** Signs in with a passkey. @throws InvalidPasskey */
export async function signInWithPasskey ({ db, console }: PasskeyDeps, response: AuthenticationResponseJSON) {
  return await db.transaction().execute(async (trx) => {
    const { challenge } = await redeemChallenge(trx, 'SIGN_IN', response.response.clientDataJSON)
    const staffId = await verifyPasskey(trx, console, { response, challenge })
    return await startStaffSession(trx, staffId)
  })
}

/** Proves that the operator of a session is still there. @throws InvalidPasskey */
export async function proveWithPasskey (
  { db, console }: PasskeyDeps,
  session: { id: string, staffId: string },
  response: AuthenticationResponseJSON
) {
  await db.transaction().execute(async (trx) => {
    const { challenge, staffId } = await redeemChallenge(trx, 'PROVE', response.response.clientDataJSON)
    if (staffId !== session.staffId) throw new InvalidPasskey()
    if (await verifyPasskey(trx, console, { response, challenge }) !== staffId) throw new InvalidPasskey()
    await trx.updateTable('staff_sessions').set({ proved_at: sql`now()` }).where('id', '=', session.id).execute()
  })
}

/** @returns whose passkey it is */
async function verifyPasskey (
  trx: Trx,
  console: Deps['console'],
  { response, challenge }: { response: AuthenticationResponseJSON, challenge: string }
) {
  const passkey = await trx.selectFrom('passkeys').innerJoin('staff', 'staff.id', 'staff_id')
    .where('passkeys.id', '=', response.id).where('disabled_at', 'is', null)
    .select(['passkeys.id', 'staff_id as staffId', 'public_key as publicKey', 'counter']).forUpdate('passkeys')
    .executeTakeFirst()
  if (!passkey) throw new InvalidPasskey()
  const { verifyAuthenticationResponse } = await loadWebauthn()
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: console.origin,
    expectedRPID: console.host,
    credential: { id: passkey.id, publicKey: new Uint8Array(passkey.publicKey), counter: passkey.counter },
    requireUserVerification: true
  }).catch(() => ({ verified: false as const, authenticationInfo: undefined }))
  if (!verified) throw new InvalidPasskey()
  await trx.updateTable('passkeys').set({ counter: authenticationInfo.newCounter, last_used_at: sql`now()` })
    .where('id', '=', passkey.id).execute()
  return passkey.staffId
}
