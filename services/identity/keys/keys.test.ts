import t from 'tap'
import { sql } from 'kysely'
import { ConfigError, createKeySet, createVerifiedKeyFetcher } from '@tandem/service-kit'
import { createRootKey, silentLog } from '@tandem/service-kit/testing'
import { runHousekeeping } from '../housekeeping.ts'
import { createSecrets } from '../secrets.ts'
import { rootKeys, testApp } from '../test/app.ts'
import { ensureSigningKey, replaceSigningKeys, rotateSigningKeys } from './actions.ts'
import { answerSigningKeys } from './rpc.ts'
import { listPublicKeys } from './queries.ts'
import { readRootPrivateKey } from './signed-keys.ts'
import { createIssuer } from './tokens.ts'

const { app, db, deps, get, givenAccount } = await testApp(t)
const { secrets } = deps

const kidOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid as string
const sign = async () => kidOf(await createIssuer(db, secrets)({ accountId: crypto.randomUUID(), sessionId: crypto.randomUUID(), role: 'USER' }))
const published = async () => (await get('/.well-known/jwks.json')).keys.map(({ kid }: { kid: string }) => kid) as string[]
const pass = async (minutes: number) => await sql`update signing_keys set signs_from = signs_from - make_interval(mins => ${minutes})`.execute(db)

t.test('the public halves are published, and nothing else', async (t) => {
  const response = await app.inject('/.well-known/jwks.json')
  t.equal(response.headers['cache-control'], 'public, max-age=60')
  const { keys } = response.json()
  t.strictSame(keys.map((key: object) => Object.keys(key).sort()), [['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']])
  t.match(keys, [{ alg: 'ES256', crv: 'P-256', kty: 'EC', use: 'sig' }])
  const { kid } = keys[0]
  const overNats = createKeySet(createVerifiedKeyFetcher(async () => String(await answerSigningKeys(deps).handle({})), [rootKeys.publicText]), silentLog)
  const overHttp = createKeySet(createVerifiedKeyFetcher(async () => (await app.inject('/internal/signing-keys')).json().signed, [rootKeys.publicText]), silentLog)
  t.teardown(() => { overNats.close(); overHttp.close() })
  t.ok(await overNats.find(kid), 'services that ask are told the same, signed')
  t.equal(await overHttp.find(kid), await overNats.find(kid), 'and so are gateways')
})

t.test('several processes that start at once make one key', async (t) => {
  await Promise.all(Array.from({ length: 5 }, async () => await ensureSigningKey(db, secrets)))
  t.equal((await published()).length, 1)
})

t.test('a new key is published for 15 minutes before it signs, and the old one for 20 after', async (t) => {
  const account = await givenAccount()
  const [old] = await published()
  await rotateSigningKeys(db, secrets)
  const [next] = await published()
  t.strictSame(await published(), [next, old])
  t.equal(await sign(), old)
  await pass(14)
  t.equal(await sign(), old)
  await pass(1)
  t.equal(await sign(), next)
  t.equal(kidOf((await givenAccount()).accessToken), old, 'a running process changes over within a minute')

  await pass(19)
  await runHousekeeping(db)
  t.strictSame(await published(), [next, old])
  t.match(await get('/auth/sessions', { as: account }), { status: 200 }, 'tokens of the old key are good all the while')
  await pass(2)
  await runHousekeeping(db)
  t.strictSame(await published(), [next])

  const later = createKeySet(() => listPublicKeys(db), silentLog)
  t.teardown(() => later.close())
  t.equal(await later.find(old!), undefined)
  t.ok(await later.find(next!))
})

t.test('a process under another secret does not start, and says what to do', async (t) => {
  const other = createSecrets('quite another secret of more than 32 characters')
  await t.rejects(ensureSigningKey(db, other), ConfigError)
  await t.rejects(ensureSigningKey(db, other), /SECRET is not the one/)
  await replaceSigningKeys(db, other)
  await t.resolves(ensureSigningKey(db, other))
  t.equal((await published()).length, 2, 'the tokens of before go on for a while')
})

t.test('a root key that nobody would believe is found at the start', (t) => {
  const other = createRootKey()
  t.ok(readRootPrivateKey(rootKeys.privateText, [other.publicText, rootKeys.publicText]))
  t.throws(() => readRootPrivateKey(rootKeys.privateText, [other.publicText]), /does not hold the public half/)
  t.throws(() => readRootPrivateKey('no key', [other.publicText]), ConfigError)
  t.throws(() => readRootPrivateKey(rootKeys.publicText, [rootKeys.publicText]), ConfigError)
  t.end()
})

t.test('what is sealed opens only under its secret, and unchanged', (t) => {
  const sealed = secrets.seal('private')
  t.equal(secrets.unseal(sealed), 'private')
  t.throws(() => secrets.unseal(Buffer.concat([sealed.subarray(0, -1), Buffer.from([sealed.at(-1)! ^ 1])])))
  t.not(secrets.seal('private').toString('hex'), sealed.toString('hex'))
  t.end()
})
