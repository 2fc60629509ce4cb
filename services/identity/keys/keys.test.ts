import t from 'tap'
import { sql } from 'kysely'
import { createKeySet, createVerifiedKeyFetcher } from '@tandem/http-kit'
import { ConfigError } from '@tandem/process-kit'
import { createRootKey, silentLog } from '@tandem/http-kit/testing'
import { runHousekeeping } from '../housekeeping.ts'
import { createSecrets } from '../secrets.ts'
import { rootKeys, testApp } from '../test/app.ts'
import { ensureSigningKey, replaceSigningKeys, rotateSigningKeys } from './actions.ts'
import { handleSigningKeys } from './rpc.ts'
import { readKeySet } from './queries.ts'
import { readRootPrivateKey } from './signed-keys.ts'
import { createIssuers } from './tokens.ts'

const { app, db, deps, get, givenAccount } = await testApp(t)
const { secrets } = deps

const kidOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid as string
const kidOfNextToken = async () =>
  kidOf(
    await createIssuers(app, deps).issueToken({
      accountId: crypto.randomUUID(),
      sessionId: crypto.randomUUID(),
      role: 'USER'
    })
  )
const publishedKids = async () =>
  (await get('/.well-known/jwks.json')).keys.map(({ kid }: { kid: string }) => kid) as string[]
const advance = async (minutes: number) =>
  await sql`update signing_keys set signs_from = signs_from - make_interval(mins => ${minutes})`.execute(db)

t.test('only the public keys are published', async (t) => {
  const response = await app.inject('/.well-known/jwks.json')
  t.equal(response.headers['cache-control'], 'public, max-age=60')
  const { keys } = response.json()
  t.strictSame(keys.map((key: object) => Object.keys(key).sort()), [['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']])
  t.match(keys, [{ alg: 'ES256', crv: 'P-256', kty: 'EC', use: 'sig' }])
  const { kid } = keys[0]
  const overNats = createKeySet(
    createVerifiedKeyFetcher(async () => String(await handleSigningKeys(deps).handle({})), [rootKeys.publicText]),
    silentLog
  )
  const overHttp = createKeySet(
    createVerifiedKeyFetcher(async () => (await app.inject('/internal/signing-keys')).json().signed, [
      rootKeys.publicText
    ]),
    silentLog
  )
  t.teardown(() => {
    overNats.close()
    overHttp.close()
  })
  t.ok(await overNats.find(kid), 'services get the same keys, signed')
  t.equal(await overHttp.find(kid), await overNats.find(kid), 'and so do gateways')
})

t.test('processes that start at the same time create one key', async (t) => {
  await Promise.all(Array.from({ length: 5 }, async () => await ensureSigningKey(db, secrets)))
  t.equal((await publishedKids()).length, 1)
})

t.test('a new key is published for 15 minutes before it signs, and the old one for 20 after', async (t) => {
  const account = await givenAccount()
  const [old] = await publishedKids()
  await rotateSigningKeys(db, secrets)
  const [next] = await publishedKids()
  t.strictSame(await publishedKids(), [next, old])
  t.equal(await kidOfNextToken(), old)
  await advance(14)
  t.equal(await kidOfNextToken(), old)
  await advance(1)
  t.equal(await kidOfNextToken(), next)
  t.equal(kidOf((await givenAccount()).accessToken), old, 'a running process switches within a minute')

  await advance(19)
  await runHousekeeping(db)
  t.strictSame(await publishedKids(), [next, old])
  t.match(await get('/auth/sessions', { as: account }), { status: 200 }, 'tokens of the old key stay valid')
  await advance(2)
  await runHousekeeping(db)
  t.strictSame(await publishedKids(), [next])

  const later = createKeySet(() => readKeySet(db), silentLog)
  t.teardown(() => later.close())
  t.equal(await later.find(old!), undefined)
  t.ok(await later.find(next!))
})

t.test('a process with another SECRET does not start, and the error says what to do', async (t) => {
  const other = createSecrets('quite another secret of more than 32 characters')
  await t.rejects(ensureSigningKey(db, other), ConfigError)
  await t.rejects(ensureSigningKey(db, other), /SECRET is not the one/)
  await replaceSigningKeys(db, other)
  await t.resolves(ensureSigningKey(db, other))
  t.equal((await publishedKids()).length, 2, 'earlier tokens stay valid for a while')
})

t.test('a root key that other processes would not trust is rejected at the start', (t) => {
  const other = createRootKey()
  t.ok(readRootPrivateKey(rootKeys.privateText, [other.publicText, rootKeys.publicText]))
  t.throws(() => readRootPrivateKey(rootKeys.privateText, [other.publicText]), /does not contain the public key/)
  t.throws(() => readRootPrivateKey('no key', [other.publicText]), ConfigError)
  t.throws(() => readRootPrivateKey(rootKeys.publicText, [rootKeys.publicText]), ConfigError)
  t.end()
})

t.test('encrypted data can be decrypted only with its secret, and only unchanged', (t) => {
  const encrypted = secrets.encrypt('private')
  t.equal(secrets.decrypt(encrypted), 'private')
  t.throws(() => secrets.decrypt(Buffer.concat([encrypted.subarray(0, -1), Buffer.from([encrypted.at(-1)! ^ 1])])))
  t.not(secrets.encrypt('private').toString('hex'), encrypted.toString('hex'))
  t.end()
})
