import Type from 'typebox'
import { networkOf } from '@tandem/account-kit'
import { Body, Data, data, Enum, Message, message, Timestamp, ValidationError, type Routes } from '@tandem/http-kit'
import { Code } from '../codes/schemas.ts'
import type { Deps } from '../deps.ts'
import {
  AccountBanned,
  InvalidCode,
  InvalidCredentials,
  InvalidProviderAToken,
  InvalidProviderBToken,
  TooBusy,
  UserNotFound
} from '../errors.ts'
import { Password } from '../passwords/schemas.ts'
import { ProviderToken } from '../providers/schemas.ts'
import { ProviderName } from '../schemas.ts'
import { logSignInFailure } from '../security-log/actions.ts'
import { callerOf } from '../sessions/caller.ts'
import type { Provider } from '../tables.ts'
import { mailProofCode, prove, type Evidence } from './actions.ts'
import { Proof } from './schemas.ts'

const Purpose = Enum(['DELETE', 'EXPORT', 'CHANGE_EMAIL', 'REMOVE_PROVIDER'], { description: 'What the proof is for' })

export const proofRoutes: Routes<Deps> = async (app, deps) => {
  app.post('/account/proof', {
    schema: {
      operationId: 'proveIdentity',
      summary: 'Prove again who you are, before a change that a stolen phone must not make',
      description: 'Send one of: the password; a code from `POST /account/proof/code`; a provider with a new ' +
        '`identityToken`. The proof is valid for ten minutes, once, in this session, and for this purpose. ' +
        'Five attempts in 15 minutes; wrong passwords count as failed sign-ins.',
      'x-extension': true,
      body: Body({
        purpose: Purpose,
        password: Type.Optional(Password),
        code: Type.Optional(Code),
        provider: Type.Optional(ProviderName),
        identityToken: Type.Optional(ProviderToken)
      }, { examples: [{ purpose: 'EXPORT', password: 'Wide-Open-5ky' }] }),
      errors: [
        AccountBanned,
        InvalidCode,
        InvalidCredentials,
        InvalidProviderAToken,
        InvalidProviderBToken,
        UserNotFound,
        TooBusy
      ],
      response: { 200: Data(Type.Object({ proof: Proof, expiresAt: Timestamp })) }
    }
  }, async ({ body: { purpose, ...evidence }, account, ip }) => {
    const request = { caller: callerOf(account), purpose, network: networkOf(ip) }
    const proof = prove(deps, request, readEvidence(evidence))
    return data(await logSignInFailure(deps.db, { method: 'PROOF', accountId: account.id }, proof))
  })

  app.post('/account/proof/code', {
    schema: {
      operationId: 'requestProofCode',
      summary: 'Mail a code for a proof',
      description: 'The code is sent to the address of the account, expires in ten minutes and allows five attempts. ' +
        'Three an hour.',
      'x-extension': true,
      body: Body({ purpose: Purpose }),
      response: { 200: Message }
    }
  }, async ({ body: { purpose }, account }) => {
    await mailProofCode(deps, callerOf(account), purpose)
    return message('We have sent a code to your address')
  })
}

interface Fields {
  password?: string
  code?: string
  provider?: Provider
  identityToken?: string
}

/** @throws ValidationError unless it is exactly one kind of evidence */
function readEvidence ({ password, code, provider, identityToken }: Fields): Evidence {
  const found: Evidence[] = [
    ...(password === undefined ? [] : [{ password }]),
    ...(code === undefined ? [] : [{ code }]),
    ...(provider === undefined || identityToken === undefined ? [] : [{ provider, identityToken }])
  ]
  const [evidence, ...more] = found
  if (!evidence || more.length > 0 || (provider === undefined) !== (identityToken === undefined)) {
    throw new ValidationError('sendOneOfPassword')
  }
  return evidence
}
