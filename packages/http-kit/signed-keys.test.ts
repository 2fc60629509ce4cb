import { createHmac, generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { parseRootKey } from '@tandem/process-kit'
import { createKeySet } from './keys.ts'
import { signKeySet, createVerifiedKeyFetcher } from './signed-keys.ts'
import { createRootKey, silentLog } from './testing.ts'

const root = createRootKey()
const MINUTE = 60_000
const createJwk = (kid: string) => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }),
  kid,
  alg: 'ES256'
})
const [ours, attackers] = [createJwk('ours'), createJwk('attackers')]
const sign = async (keys = [ours], at = Date.now(), by = root) => await signKeySet(keys, at, by.privateKey)
const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** Reads a key set as a process that trusts `roots`. */
const read = async (signed: string, roots = [root.publicText]) =>
  await createVerifiedKeyFetcher(async () => signed, roots)()

t.test('a set that identity signed is accepted', async (t) => {
  t.match(await read(await sign()), { keys: [{ kid: 'ours' }], issuedAt: Number })
})

t.test('any other set is rejected', async (t) => {
  const signed = await sign()
  const [header, , signature] = signed.split('.')
  const payload = encode({ issuedAt: Date.now(), keys: [attackers] })
  const hmac = (content: string) =>
    createHmac('sha256', Buffer.from(root.publicText, 'base64')).update(content).digest('base64url')
  const symmetric = `${encode({ alg: 'HS256', typ: 'tandem-keys' })}.${payload}`
  for (
    const [what, forged] of Object.entries({
      'of another root key': await sign([attackers], Date.now(), createRootKey()),
      'with other keys than were signed': `${header}.${payload}.${signature}`,
      'without a signature': `${header}.${payload}.`,
      'of no algorithm': `${encode({ alg: 'none', typ: 'tandem-keys' })}.${payload}.`,
      'with the public key as a password': `${symmetric}.${hmac(symmetric)}`,
      'that brings its own key': await sign([attackers], Date.now(), createRootKey()).then((other) =>
        other.replace(/^[^.]+/, encode({ alg: 'EdDSA', typ: 'tandem-keys', jwk: { kty: 'OKP' } }))
      ),
      'that is no text of this kind': JSON.stringify([attackers]),
      'that is empty': ''
    })
  ) await t.rejects(read(forged), /not signed by identity/, what)
})

t.test('during a rotation, sets of both root keys are accepted', async (t) => {
  const next = createRootKey()
  const both = [root.publicText, next.publicText]
  t.match(await read(await sign(), both), { keys: [{ kid: 'ours' }] })
  t.match(await read(await sign([ours], Date.now(), next), both), { keys: [{ kid: 'ours' }] })
  await t.rejects(read(await sign(), [next.publicText]), /not signed by identity/)
})

t.test('cached keys stay valid, whatever is fetched later', async (t) => {
  let answer = await sign()
  const keys = createKeySet(createVerifiedKeyFetcher(async () => answer, [root.publicText]), silentLog)
  t.teardown(keys.close)
  t.ok(await keys.find('ours'))
  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  for (
    const other of [
      await sign([attackers], Date.now(), createRootKey()),
      await sign([attackers], Date.now() - MINUTE),
      ''
    ]
  ) {
    answer = other
    const then = Date.now()
    Date.now = () => then + MINUTE
    await t.rejects(
      keys.find('attackers'),
      { code: 'SERVICE_UNAVAILABLE' },
      'a forged set does not show what identity would return'
    )
    t.ok(await keys.find('ours'))
  }
})

t.test('a root key must be an Ed25519 key', (t) => {
  t.ok(parseRootKey(root.publicText))
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'der', type: 'spki' })
    .toString('base64')
  for (const wrong of ['', 'no key', other]) t.throws(() => parseRootKey(wrong))
  t.end()
})
