import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, jwtVerify, SignJWT } from 'jose'
import { sql } from 'kysely'
import t from 'tap'
import { silentLog } from '@tandem/http-kit/testing'
import { beginDueErasures } from '../erasures/actions.ts'
import { createVerifier } from '../providers/tokens.ts'
import { password, testApp } from '../test/app.ts'
import { exchangeCode, revokeDue } from './actions.ts'
import { createProviderClient } from './provider-client.ts'

const issuer = 'https://provider-b.example'
const clientId = 'com.example.tandem'
const client = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const signing = generateKeyPairSync('rsa', { modulusLength: 2_048 })

/** Speaks the protocol of provider B: form posts with a client secret that is a JWT, single-use codes, revocation. */
async function startProvider () {
  const codes = new Map<string, string>()
  const tokens = new Set<string>()
  const requests: string[] = []
  const state = { isBroken: false }
  const jwk = { ...await exportJWK(signing.publicKey), kid: 'first', alg: 'RS256', use: 'sig' }

  async function respond (path: string, fields: URLSearchParams): Promise<[status: number, body?: object]> {
    requests.push(path)
    if (path === '/keys') return [200, { keys: [jwk] }]
    if (state.isBroken) return [503]
    try {
      const { payload, protectedHeader } = await jwtVerify(fields.get('client_secret') ?? '', client.publicKey, {
        issuer: 'TEAM123456',
        audience: issuer,
        subject: clientId,
        algorithms: ['ES256'],
        requiredClaims: ['exp', 'iat']
      })
      const lifetime = payload.exp! - payload.iat!
      const isValid = protectedHeader.kid === 'KEY1234567' && fields.get('client_id') === clientId &&
        lifetime <= 15_777_000
      if (!isValid) throw new Error('not this client')
    } catch {
      return [400, { error: 'invalid_client' }]
    }
    if (path === '/revoke') {
      if (fields.get('token_type_hint') !== 'refresh_token') return [400, { error: 'invalid_request' }]
      tokens.delete(fields.get('token') ?? '')
      return [200]
    }
    const subject = codes.get(fields.get('code') ?? '')
    if (fields.get('grant_type') !== 'authorization_code' || !subject) return [400, { error: 'invalid_grant' }]
    codes.delete(fields.get('code')!)
    const refreshToken = `refresh ${crypto.randomUUID()}`
    tokens.add(refreshToken)
    const idToken = await new SignJWT({ email: 'ana@example.com' }).setProtectedHeader({ alg: 'RS256', kid: 'first' })
      .setIssuer(issuer).setAudience(clientId).setSubject(subject).setIssuedAt().setExpirationTime('10m')
      .sign(signing.privateKey)
    return [200, {
      access_token: 'access',
      token_type: 'Bearer',
      expires_in: 3_600,
      refresh_token: refreshToken,
      id_token: idToken
    }]
  }

  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const [status, answer] = await respond(request.url!, new URLSearchParams(body))
    response.writeHead(status, { 'content-type': 'application/json' }).end(answer && JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tokens,
    requests,
    state,
    signIn (subject: string) {
      const code = crypto.randomUUID()
      codes.set(code, subject)
      return code
    }
  }
}

const provider = await startProvider()
const verify = createVerifier({
  issuers: [issuer],
  audiences: [clientId],
  jwksUrl: `${provider.url}/keys`,
  singleUse: false
})
const settings = {
  clientId,
  teamId: 'TEAM123456',
  keyId: 'KEY1234567',
  privateKey: client.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  issuer,
  tokenUrl: `${provider.url}/token`,
  revokeUrl: `${provider.url}/revoke`
}
const { db, deps, get, post, login, givenAccount, mailsTo } = await testApp(t, {
  providers: { PROVIDER_B: verify },
  providerClient: createProviderClient(settings, verify)
})
type Account = Awaited<ReturnType<typeof givenAccount>>

const subjectOf = async ({ id }: Account) =>
  (await db.selectFrom('provider_links').where('account_id', '=', id).select('subject').executeTakeFirstOrThrow())
    .subject
async function remove (account: Account, authorizationCode: string) {
  const { data: { proof } } = await post('/account/proof', { purpose: 'DELETE', password }, { as: account })
  return (await post('/account/deletion', { proof, authorizationCode }, { as: account })).data.deletion as {
    id: string,
    providers: string[]
  }
}
async function begin (id: string) {
  await sql`update erasures set erase_at = now() where id = ${id}`.execute(db)
  await beginDueErasures(deps)
}
const isDue = async () => await sql`update provider_revocations set next_attempt_at = now()`.execute(db)
const planned = async (id: string) =>
  await db.selectFrom('provider_revocations').where('erasure_id', '=', id).selectAll().executeTakeFirst()
const providersOf = async (id: string) => (await get(`/account/deletions/${id}`)).data.deletion.providers as string[]

t.beforeEach(() => {
  provider.requests.length = 0
  provider.tokens.clear()
  provider.state.isBroken = false
})

t.test('the connection is ended at the provider once the erasure begins, and not before', async (t) => {
  const ana = await givenAccount({ provider: 'PROVIDER_B' })
  const { id, providers } = await remove(ana, provider.signIn(await subjectOf(ana)))
  t.same(providers, [], 'the person does not have to end it')
  const [mail] = await mailsTo(ana.email)
  t.notMatch(mail!.text, 'You signed in with an account of another company')
  t.equal(provider.tokens.size, 1)
  const token = (await planned(id))!.token
  t.notOk(token.includes(Buffer.from([...provider.tokens][0]!)), 'the token is encrypted')

  await revokeDue(deps, silentLog)
  t.equal(provider.tokens.size, 1, 'during the grace period')
  await begin(id)
  await Promise.all([revokeDue(deps, silentLog), revokeDue(deps, silentLog)])
  t.equal(provider.tokens.size, 0)
  t.equal(provider.requests.filter((path) => path === '/revoke').length, 1, 'one of two replicas does it')
  t.equal(await planned(id), undefined)
  t.same(await providersOf(id), [])
})

t.test('a canceled deletion ends nothing, and the token is forgotten', async (t) => {
  const ana = await givenAccount({ provider: 'PROVIDER_B' })
  const { id } = await remove(ana, provider.signIn(await subjectOf(ana)))
  const { restoreToken } = await login(ana.email)
  t.match(await post('/account/deletion/cancel', { restoreToken }), { status: 200 })
  t.equal(await planned(id), undefined)
  await revokeDue(deps, silentLog)
  t.equal(provider.tokens.size, 1)
})

t.test('a code that is invalid, used or of somebody else leaves it to the person', async (t) => {
  const [ana, ben, cat] = [
    await givenAccount({ provider: 'PROVIDER_B' }),
    await givenAccount({ provider: 'PROVIDER_B' }),
    await givenAccount({ provider: 'PROVIDER_B' })
  ]
  const used = provider.signIn(await subjectOf(ana))
  await deps.providerClient!.exchange(used)
  for (
    const [account, code] of [[ana, used], [ben, 'no code'], [cat, provider.signIn(await subjectOf(ben))]] as const
  ) {
    const { id, providers } = await remove(account, code)
    t.same(providers, ['PROVIDER_B'])
    t.equal(await planned(id), undefined)
  }
})

t.test('a provider that is unavailable at the request does not stop the deletion', async (t) => {
  const ana = await givenAccount({ provider: 'PROVIDER_B' })
  provider.state.isBroken = true
  t.same((await remove(ana, provider.signIn(await subjectOf(ana)))).providers, ['PROVIDER_B'])
})

t.test('a provider that does not answer delays the deletion by two seconds', async (t) => {
  const providerClient = {
    exchange: async () => await new Promise<never>(() => {}),
    revoke: async () => true
  }
  t.equal(await exchangeCode({ providerClient }, 'a code'), undefined)
})

t.test('one that is unavailable at the erasure is called again, and named in the receipt in the end', async (t) => {
  const [ana, ben] = [
    await givenAccount({ provider: 'PROVIDER_B' }),
    await givenAccount({ provider: 'PROVIDER_B' })
  ]
  const [later, never] = [
    await remove(ana, provider.signIn(await subjectOf(ana))),
    await remove(ben, provider.signIn(await subjectOf(ben)))
  ]
  await begin(later.id)
  provider.state.isBroken = true
  await revokeDue(deps, silentLog)
  t.match(await planned(later.id), { attempts: 1 })
  await revokeDue(deps, silentLog)
  t.match(await planned(later.id), { attempts: 1 }, 'not before its time')
  provider.state.isBroken = false
  await isDue()
  await revokeDue(deps, silentLog)
  t.equal(await planned(later.id), undefined)
  t.equal(provider.tokens.size, 1)

  await begin(never.id)
  provider.state.isBroken = true
  await sql`update provider_revocations set attempts = 19`.execute(db)
  await revokeDue(deps, silentLog)
  t.equal(await planned(never.id), undefined, 'the token is not kept for ever')
  t.same(await providersOf(never.id), ['PROVIDER_B'])
})

t.test('the private key can be PEM or base64, and another one is refused without being shown', async (t) => {
  const der = client.privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
  const ana = await givenAccount({ provider: 'PROVIDER_B' })
  const code = provider.signIn(await subjectOf(ana))
  t.match(await createProviderClient({ ...settings, privateKey: der }, verify).exchange(code), { refreshToken: String })
  const other = createPrivateKey(signing.privateKey.export({ format: 'pem', type: 'pkcs8' }))
    .export({ format: 'pem', type: 'pkcs8' }).toString()
  for (const privateKey of [other, 'hunter2']) {
    t.throws(() => createProviderClient({ ...settings, privateKey }, verify), {
      message: 'PROVIDER_B_PRIVATE_KEY must be an EC private key on the curve P-256'
    })
  }
})

t.test('without a valid proof the provider is not asked, and the code can be sent again', async (t) => {
  const ana = await givenAccount({ provider: 'PROVIDER_B' })
  const authorizationCode = provider.signIn(await subjectOf(ana))
  const { data: { proof: other } } = await post('/account/proof', { purpose: 'EXPORT', password }, { as: ana })
  for (const proof of ['a wrong proof', other, undefined]) {
    t.match(await post('/account/deletion', { proof, authorizationCode }, { as: ana }), { code: 'PROOF_REQUIRED' })
  }
  t.notOk(provider.requests.includes('/token'))
  const { id, providers } = await remove(ana, authorizationCode)
  t.same(providers, [])
  t.ok(await planned(id))
})
