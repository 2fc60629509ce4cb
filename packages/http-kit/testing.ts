import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { subscribe } from 'node:diagnostics_channel'
import { createLogger } from '@tandem/process-kit'
import { ACCESS_TOKEN } from './tokens.ts'
import type { KeySet } from './keys.ts'
import { createServer } from './server.ts'
import type { Routes, ServerOptions } from './server.ts'

export { createInjector, fuzzApi } from './test/fuzz.ts'
export { checkFeatures } from './test/features.ts'
export { startHookProvider } from './test/hook-provider.ts'
export { listMissingExamples } from './test/missing-examples.ts'
export { postThenRead } from './test/raw-request.ts'
export { listReads, type Read } from './test/reads.ts'
export { resolveReferences } from './test/references.ts'

// Node throws it as an uncaught exception, which fails the test that sent the request.
subscribe('tandem.undocumented-error', (message) => {
  throw new Error(String(message))
})

const kid = 'test'
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string

/** The key set that verifies the tokens of `bearer`. */
export const testKeys: KeySet = {
  find: async (wanted) => (wanted === kid ? pem : undefined),
  has: (wanted) => wanted === kid,
  close () {}
}

/** Logs nothing except the causes of 500 responses, which a failing test should show. */
export const silentLog = createLogger('test', 'error', {
  write (line) {
    const { msg, err } = JSON.parse(line) as { msg?: string, err?: { stack?: string } }
    if (msg === 'request failed') process.stderr.write(`responded 500: ${err?.stack ?? line}\n`)
  }
})

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** Signs an ES256 token with any header and claims, also for tests of invalid tokens. */
export function signToken (claims: object, header: object = {}, key = privateKey) {
  const content = `${encode({ alg: ACCESS_TOKEN.algorithm, typ: ACCESS_TOKEN.type, kid, ...header })}.${encode(claims)}`
  return `${content}.${sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

/** Creates a root key, with both halves in the format of the variables. */
export function createRootKey () {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    privateKey,
    privateText: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    publicText: publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  }
}

interface BearerOptions {
  role?: string
  sessionId?: string
  expiresInSeconds?: number
}

/** The authorization header of an account. */
export function bearer (
  accountId: string,
  { role = 'USER', sessionId = randomUUID(), expiresInSeconds = ACCESS_TOKEN.lifetimeSeconds }: BearerOptions = {}
) {
  const now = Math.floor(Date.now() / 1000)
  const { issuer: iss, audience: aud } = ACCESS_TOKEN
  return {
    authorization: `Bearer ${
      signToken({ iss, aud, sub: accountId, sid: sessionId, role, iat: now, exp: now + expiresInSeconds })
    }`
  }
}

/** Creates a server with `routes` that is closed when the test ends. */
export async function testServer (
  t: { after: (close: () => unknown) => unknown },
  routes: Routes = async () => {},
  options: Partial<ServerOptions> = {}
) {
  const app = await createServer({ name: 'test', log: silentLog, keys: testKeys, ...options })
  t.after(() => app.close())
  await app.register(routes)
  return app
}
