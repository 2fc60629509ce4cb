import { createHmac, generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { createKeySet } from './keys.ts'
import { parseRootKey, signKeySet, createVerifiedKeyFetcher } from './signed-keys.ts'
import { createRootKey, silentLog } from './testing.ts'

const root = createRootKey()
const MINUTE = 60_000
const publish = (kid: string) => ({ ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }), kid, alg: 'ES256' })
const [ours, attackers] = [publish('ours'), publish('attackers')]
const sign = async (keys = [ours], at = Date.now(), by = root) => await signKeySet(keys, at, by.privateKey)
const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** What comes of a set of keys, in the eyes of a process that knows `roots`. */
const read = async (signed: string, roots = [root.publicText]) => await createVerifiedKeyFetcher(async () => signed, roots)()

t.test('a set is believed that identity has signed', async (t) => {
  t.match(await read(await sign()), [{ kid: 'ours' }])
})

t.test('no other set is', async (t) => {
  const signed = await sign()
  const [header, , signature] = signed.split('.')
  const payload = encode({ issuedAt: Date.now(), keys: [attackers] })
  const hmac = (content: string) => createHmac('sha256', Buffer.from(root.publicText, 'base64')).update(content).digest('base64url')
  const symmetric = `${encode({ alg: 'HS256', typ: 'tandem-keys' })}.${payload}`
  for (const [what, forged] of Object.entries({
    'of another root key': await sign([attackers], Date.now(), createRootKey()),
    'with other keys than were signed': `${header}.${payload}.${signature}`,
    'without a signature': `${header}.${payload}.`,
    'of no algorithm': `${encode({ alg: 'none', typ: 'tandem-keys' })}.${payload}.`,
    'with the public key as a password': `${symmetric}.${hmac(symmetric)}`,
    'that brings its own key': await sign([attackers], Date.now(), createRootKey()).then((other) => other.replace(/^[^.]+/, encode({ alg: 'EdDSA', typ: 'tandem-keys', jwk: { kty: 'OKP' } }))),
    'that is no text of this kind': JSON.stringify([attackers]),
    'that is empty': ''
  })) await t.rejects(read(forged), /not signed by identity/, what)
})

t.test('an older set than the last one is refused, and so is one of the day before for a process that has just started', async (t) => {
  let answer = await sign([ours], Date.now() - MINUTE)
  const fetchKeys = createVerifiedKeyFetcher(async () => answer, [root.publicText])
  await fetchKeys()
  const before = answer
  answer = await sign([publish('newer')], Date.now())
  t.match(await fetchKeys(), [{ kid: 'newer' }])
  t.match(await fetchKeys(), [{ kid: 'newer' }], 'the same again is fine')
  answer = before
  await t.rejects(fetchKeys(), /an old one/)

  await t.rejects(read(await sign([ours], Date.now() - 24 * 60 * MINUTE)), /an old one/)
  await t.rejects(read(await sign([ours], Date.now() + 24 * 60 * MINUTE)), /from the future/, 'else no right set would ever be newer')
})

t.test('while root keys are rotated, sets of either are believed', async (t) => {
  const next = createRootKey()
  const both = [root.publicText, next.publicText]
  t.match(await read(await sign(), both), [{ kid: 'ours' }])
  t.match(await read(await sign([ours], Date.now(), next), both), [{ kid: 'ours' }])
  await t.rejects(read(await sign(), [next.publicText]), /not signed by identity/)
})

t.test('whatever is answered later, keys once had go on', async (t) => {
  let answer = await sign()
  const keys = createKeySet(createVerifiedKeyFetcher(async () => answer, [root.publicText]), silentLog)
  t.teardown(keys.close)
  t.ok(await keys.find('ours'))
  const now = Date.now
  t.teardown(() => { Date.now = now })
  for (const other of [await sign([attackers], Date.now(), createRootKey()), await sign([attackers], Date.now() - MINUTE), '']) {
    answer = other
    const then = Date.now()
    Date.now = () => then + MINUTE
    await t.rejects(keys.find('attackers'), { code: 'SERVICE_UNAVAILABLE' }, 'a forged answer tells nothing of what identity would say')
    t.ok(await keys.find('ours'))
  }
})

t.test('a root key is an Ed25519 key', (t) => {
  t.ok(parseRootKey(root.publicText))
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  for (const wrong of ['', 'no key', other]) t.throws(() => parseRootKey(wrong))
  t.end()
})
