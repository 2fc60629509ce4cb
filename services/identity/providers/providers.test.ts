import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { sql } from 'kysely'
import { Unavailable } from '@tandem/process-kit'
import t from 'tap'
import { runHousekeeping } from '../housekeeping.ts'
import { inParallel, randomEmail, testApp } from '../test/app.ts'
import { createVerifier } from './tokens.ts'

/** A test provider that publishes keys over HTTP and signs with them. */
async function startIssuer () {
  const keys: object[] = []
  let requestCount = 0
  let broken = false
  const server = createServer((_request, response) => {
    requestCount++
    response.writeHead(broken ? 500 : 200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() =>
    new Promise((resolve) => {
      server.closeAllConnections()
      server.close(resolve)
    })
  )
  async function addKey (kid: string) {
    const pair = await generateKeyPair('RS256')
    keys.push({ ...await exportJWK(pair.publicKey), kid, alg: 'RS256', use: 'sig' })
    return pair.privateKey
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`,
    addKey,
    requestCount: () => requestCount,
    fail: (how: boolean) => {
      broken = how
    }
  }
}

const issuer = await startIssuer()
const key = await issuer.addKey('first')
const settings = (provider: string) => ({
  issuers: [`https://${provider}.example`],
  audiences: ['tandem-android', 'tandem-ios'],
  jwksUrl: issuer.url,
  singleUse: false
})
const { db, post, get, givenAccount, canRefresh, publishedEvents } = await testApp(t, {
  providers: { PROVIDER_A: createVerifier(settings('provider-a')), PROVIDER_B: createVerifier(settings('provider-b')) }
})

interface Token {
  kid?: string
  signer?: CryptoKey
  issuedAt?: string
  expiresIn?: string
  provider?: 'a' | 'b'
  [claim: string]: unknown
}

async function token (
  { kid = 'first', signer = key, issuedAt = '0s', expiresIn = '5m', provider = 'a', ...claims }: Token = {}
) {
  const content = {
    iss: `https://provider-${provider}.example`,
    aud: 'tandem-android',
    sub: crypto.randomUUID(),
    email: randomEmail(),
    email_verified: true,
    ...claims
  }
  return await new SignJWT(content).setProtectedHeader({ alg: 'RS256', kid }).setIssuedAt(fromNow(issuedAt))
    .setExpirationTime(fromNow(expiresIn)).sign(signer)
}
/** The Unix time `-9m 50s` from now. */
function fromNow (span: string) {
  const [, sign, minutes = 0, seconds = 0] = /^(-?)(?:(\d+)m)? ?(?:(\d+)s)?$/.exec(span.replace('1h', '60m')) ?? []
  return Math.floor(Date.now() / 1_000) + (sign ? -1 : 1) * (Number(minutes) * 60 + Number(seconds))
}
const signInA = async (claims: Token = {}, others: object = {}) =>
  await post('/auth/provider-a', { idToken: await token(claims), ...others })
const signInB = async (claims: Token = {}, others: object = {}) =>
  await post('/auth/provider-b', { identityToken: await token({ provider: 'b', ...claims }), ...others })
const prefixOf = (email: string) => email.split('@')[0]
const isRegistered = async (email: string) => (await post('/auth/check-email', { email })).exists as boolean

t.test('provider A creates a verified account with a name', async (t) => {
  const email = randomEmail()
  const sub = crypto.randomUUID()
  const response = await signInA({
    sub,
    email: email.toUpperCase(),
    name: 'Ana Putri',
    picture: 'https://img.example/ana.png'
  }, { platform: 'android', deviceName: 'Phone' })
  t.strictSame({
    ...response,
    accessToken: '',
    refreshToken: '',
    user: { ...response.user, id: '', createdAt: '', profile: null }
  }, {
    status: 201,
    success: true,
    accessToken: '',
    refreshToken: '',
    expiresIn: 900,
    isNewUser: true,
    user: {
      id: '',
      name: 'Ana Putri',
      email,
      image: 'https://img.example/ana.png',
      role: 'USER',
      emailVerified: true,
      createdAt: '',
      profile: null,
      nutritionGoal: null
    }
  })
  t.match(response.user.profile, { onboardingCompleted: false, experience: 'BEGINNER' })
  t.ok(await canRefresh(response))
  t.strictSame((await publishedEvents(response.user.id)).map(({ type }) => type), [
    'account.registered',
    'account.verified',
    'session.started'
  ])

  t.test('and signs in to it afterwards, even if the address at the provider changes', async (t) => {
    const again = await signInA({ sub, email: randomEmail() })
    t.match(again, { status: 200, isNewUser: false, user: { id: response.user.id, email } })
    t.match(await signInA({ sub, email: undefined }), { status: 200, user: { id: response.user.id } })
    t.match(await post('/auth/login', { email, password: 'Wide-Open-5ky' }), {
      status: 401,
      code: 'PROVIDER_A_ACCOUNT'
    })
  })
})

t.test('a verified account with the same address is linked, and keeps its password', async (t) => {
  for (const signIn of [signInA, signInB]) {
    const { id, email } = await givenAccount()
    const sub = crypto.randomUUID()
    t.match(await signIn({ sub, email: email.toUpperCase() }), { status: 200, isNewUser: false, user: { id } })
    t.match(await signIn({ sub, email: undefined }), { status: 200, user: { id } })
    t.match(await post('/auth/login', { email, password: 'Wide-Open-5ky' }), { status: 200 })
  }
})

t.test('an unverified account is neither linked nor signed in to', async (t) => {
  for (const signIn of [signInA, signInB]) {
    const { id, email } = await givenAccount({ verified: false })
    t.match(await signIn({ email }), { status: 401, success: false, code: 'ACCOUNT_NOT_VERIFIED', error: String })
    t.strictSame(await db.selectFrom('provider_links').where('account_id', '=', id).select('subject').execute(), [])
    t.equal((await publishedEvents(id)).length, 1)
  }
})

t.test('a token with a wrong issuer, audience, time, subject or signature is rejected', async (t) => {
  const { privateKey: foreignKey } = await generateKeyPair('RS256')
  const good = await token()
  const bad: Record<string, string | Promise<string>> = {
    'another issuer': token({ iss: 'https://evil.example' }),
    'the other provider': token({ provider: 'b' }),
    'another app': token({ aud: 'another-app' }),
    'no audience': token({ aud: undefined }),
    expired: token({ expiresIn: '-1m' }),
    'nobody': token({ sub: undefined }),
    'an empty subject': token({ sub: '' }),
    'a long subject': token({ sub: 'x'.repeat(256) }),
    'another key': token({ signer: foreignKey }),
    'an unknown key': token({ kid: 'second', signer: foreignKey }),
    'no signature': `${good.split('.').slice(0, 2).join('.')}.`,
    'no algorithm': `${Buffer.from('{"alg":"none"}').toString('base64url')}.${good.split('.')[1]}.`,
    'other claims': `${good.split('.')[0]}.${Buffer.from('{"sub":"me"}').toString('base64url')}.${good.split('.')[2]}`,
    'no token': 'nonsense'
  }
  for (const [what, idToken] of Object.entries(bad)) {
    t.match(await post('/auth/provider-a', { idToken: await idToken }), {
      status: 401,
      success: false,
      code: 'INVALID_PROVIDER_A_TOKEN'
    }, what)
  }
  t.match(await post('/auth/provider-b', { identityToken: good }), {
    status: 401,
    success: false,
    code: 'INVALID_PROVIDER_B_TOKEN'
  })
  t.match(await post('/auth/provider-a', { idToken: good }), { status: 201 })
  for (const body of [{}, { idToken: '' }, { idToken: 5 }, { idToken: 'x'.repeat(8_193) }]) {
    t.match(await post('/auth/provider-a', body), { status: 400, code: 'VALIDATION_ERROR' })
  }
  t.match(await post('/auth/provider-b', {}), { status: 400, code: 'VALIDATION_ERROR' })
})

t.test('a token with another algorithm than its key is rejected, such as one signed with the public key', async (t) => {
  const shared = new TextEncoder().encode('first')
  const idToken = await new SignJWT({ iss: 'https://provider-a.example', aud: 'tandem-android', sub: 'x' })
    .setProtectedHeader({ alg: 'HS256', kid: 'first' }).setExpirationTime('5m').sign(shared)
  t.match(await post('/auth/provider-a', { idToken }), { status: 401, code: 'INVALID_PROVIDER_A_TOKEN' })
})

t.test('each configured app is an audience', async (t) => {
  t.match(await signInA({ aud: ['somebody', 'tandem-ios'] }), { status: 201 })
})

t.test('an address that the provider has not verified is ignored', async (t) => {
  const { id, email } = await givenAccount()
  for (const verified of [false, 'false', undefined, 1]) {
    t.match(await signInA({ email, email_verified: verified }), {
      status: 401,
      success: false,
      code: 'PROVIDER_A_EMAIL_NOT_VERIFIED',
      error: String
    })
    t.match(await signInB({ email, email_verified: verified }), {
      status: 401,
      success: false,
      code: 'INVALID_PROVIDER_B_TOKEN',
      error: String
    })
  }
  const unknown = randomEmail()
  t.match(await signInA({ email: unknown, email_verified: false }), {
    status: 401,
    code: 'PROVIDER_A_EMAIL_NOT_VERIFIED'
  })
  t.notOk(await isRegistered(unknown))
  t.strictSame(await db.selectFrom('provider_links').where('account_id', '=', id).select('subject').execute(), [])
})

t.test('no account is created without an address', async (t) => {
  t.match(await signInB({ email: undefined }), {
    status: 400,
    success: false,
    code: 'PROVIDER_B_EMAIL_REQUIRED',
    error: String
  })
  t.match(await signInA({ email: undefined }), { status: 401, code: 'INVALID_PROVIDER_A_TOKEN' })
  for (const email of ['nonsense', 'İ@example.com', `${'a'.repeat(250)}@example.com`, 5, 'a b@example.com']) {
    t.match(await signInB({ email }), { status: 400, code: 'PROVIDER_B_EMAIL_REQUIRED' }, String(email))
  }
})

t.test('the address in the body of provider B is never used, and the name only for a new account', async (t) => {
  const victim = await givenAccount()
  const sub = crypto.randomUUID()
  t.match(await signInB({ sub, email: undefined }, { email: victim.email }), {
    status: 400,
    code: 'PROVIDER_B_EMAIL_REQUIRED'
  })

  const own = randomEmail()
  const first = await signInB({ sub, email: own, email_verified: 'true' }, {
    email: victim.email,
    fullName: { givenName: ' Ana ', familyName: 'Putri' },
    authorizationCode: 'x',
    platform: 'ios'
  })
  t.match(first, {
    status: 201,
    isNewUser: true,
    user: { email: own, name: 'Ana Putri', image: null, emailVerified: true }
  })
  const later = await signInB({ sub, email: undefined }, {
    email: null,
    fullName: { givenName: null, familyName: null },
    authorizationCode: null,
    platform: null
  })
  t.match(later, { status: 200, isNewUser: false, user: { id: first.user.id, email: own, name: 'Ana Putri' } })
  t.match(await signInB({ sub, email: undefined }, { email: victim.email, fullName: { givenName: 'Ben' } }), {
    status: 200,
    user: { id: first.user.id, name: 'Ana Putri' }
  })
  t.match(await signInB({ sub, email: undefined }, { fullName: null }), { status: 200, user: { id: first.user.id } })
  t.match(await signInB({ email: victim.email }, { fullName: { givenName: 'Eve' } }), {
    status: 200,
    user: { id: victim.id, name: 'Ana' }
  })

  for (const fullName of [undefined, {}, { familyName: 'X' }, { givenName: 'Tandem', familyName: 'Support' }]) {
    const unnamed = randomEmail()
    t.match(await signInB({ email: unnamed }, { fullName }), { status: 201, user: { name: prefixOf(unnamed) } })
  }
  const unnamed = randomEmail()
  t.match(await signInA({ email: unnamed }), { status: 201, user: { name: prefixOf(unnamed) } })
  t.match(await signInB({ email: `security@${crypto.randomUUID()}.example.com` }), {
    status: 201,
    user: { name: /^[A-Z][a-z]+ [A-Z][a-z]+$/ }
  })
})

t.test('concurrent first sign-ins create one account', async (t) => {
  for (const signIn of [signInA, signInB]) {
    const [sub, email] = [crypto.randomUUID(), randomEmail()]
    const { tally, results } = await inParallel(4, async () => await signIn({ sub, email }))
    t.strictSame(tally, { 200: 3, 201: 1 })
    t.equal(new Set(results.map((result) => (result as unknown as { user: { id: string } }).user.id)).size, 1)
  }
  const email = randomEmail()
  const { tally } = await inParallel(
    2,
    async (index) => index === 0 ? await signInA({ email }) : await signInB({ email })
  )
  t.strictSame(tally, { 200: 1, 201: 1 }, 'also with both providers')
})

t.test('a concurrent registration and first sign-in create one account, and the other one is rejected', async (t) => {
  for (let round = 0; round < 5; round++) {
    const email = randomEmail()
    const { results: [registered, signedIn] } = await inParallel(
      2,
      async (index) => index === 0 ? await post('/auth/register', { email }) : await signInA({ email })
    )
    t.ok(
      (registered!.status === 201 && signedIn!.code === 'ACCOUNT_NOT_VERIFIED') ||
        (registered!.code === 'EMAIL_EXISTS' && signedIn!.status === 201)
    )
  }
})

t.test('a banned account cannot sign in', async (t) => {
  const [sub, email] = [crypto.randomUUID(), randomEmail()]
  const { user } = await signInA({ sub, email })
  await db.updateTable('accounts').set({ banned_at: new Date() }).where('id', '=', user.id).execute()
  t.match(await signInA({ sub, email }), { status: 403, code: 'ACCOUNT_BANNED' })
  t.match(await signInA({ email }), { status: 403, code: 'ACCOUNT_BANNED' })
  t.match(await signInB({ email }), { status: 403, code: 'ACCOUNT_BANNED' })
})

t.test('the keys of a provider', async (t) => {
  const own = await startIssuer()
  const first = await own.addKey('first')
  const verify = createVerifier({ ...settings('provider-a'), jwksUrl: own.url })

  own.fail(true)
  const good = await token({ signer: first })
  await t.rejects(verify(good), new Unavailable(), 'without any keys no token can be verified')
  t.equal(await verify('nonsense'), undefined, 'a malformed token is rejected without keys')
  own.fail(false)
  t.match(await verify(good), { subject: String })

  const requestCount = own.requestCount()
  own.fail(true)
  for (let times = 0; times < 5; times++) t.ok(await verify(good))
  t.equal(own.requestCount(), requestCount, 'fetched keys are kept')

  const second = await own.addKey('second')
  t.equal(await verify(await token({ kid: 'second', signer: second })), undefined)
  t.equal(own.requestCount(), requestCount, 'an unknown key is not fetched again within 30 s')

  const silentProvider = createVerifier({ ...settings('provider-a'), jwksUrl: 'http://127.0.0.1:1/keys' })
  await t.rejects(silentProvider(good), new Unavailable())
})

t.test('a token can be reused unless it is configured as single-use', async (t) => {
  const idToken = await token({ issuedAt: '-50m' })
  t.match(await post('/auth/provider-a', { idToken }), { status: 201, isNewUser: true })
  t.match(await post('/auth/provider-a', { idToken }), { status: 200, isNewUser: false })
})

t.test('with single-use tokens', async (t) => {
  const singleUse = (provider: string) => createVerifier({ ...settings(provider), singleUse: true })
  const { db, post, givenAccount } = await testApp(t, {
    providers: { PROVIDER_A: singleUse('provider-a'), PROVIDER_B: singleUse('provider-b') }
  })
  const cases = [
    {
      provider: 'a',
      code: 'INVALID_PROVIDER_A_TOKEN',
      signIn: async (idToken: string) => await post('/auth/provider-a', { idToken })
    },
    {
      provider: 'b',
      code: 'INVALID_PROVIDER_B_TOKEN',
      signIn: async (identityToken: string) => await post('/auth/provider-b', { identityToken })
    }
  ] as const

  for (const { provider, code, signIn } of cases) {
    t.test(`a token of provider ${provider}`, async (t) => {
      const person = { provider, sub: crypto.randomUUID(), email: randomEmail() }

      t.test('is rejected the second time, and the next one is accepted', async (t) => {
        const used = await token(person)
        t.match(await signIn(used), { status: 201 })
        t.match(await signIn(used), { status: 401, success: false, code, error: String })
        t.match(await signIn(await token({ ...person, nonce: 'next' })), { status: 200 })
      })

      t.test('signs in once in 20 concurrent uses', async (t) => {
        const shown = await token({ ...person, nonce: 'at once' })
        const { tally } = await inParallel(20, async () => await signIn(shown))
        t.strictSame(tally, { 200: 1, [`401 ${code}`]: 19 })
      })

      t.test('is the same token when its signature is encoded differently', async (t) => {
        const written = await token({ ...person, nonce: 'written' })
        t.match(await signIn(written), { status: 200 })
        // The last character of 256 bytes in base64 has four unused bits.
        const other = `${written.slice(0, -1)}${String.fromCharCode(written.charCodeAt(written.length - 1) + 1)}`
        t.match(await signIn(other), { status: 401, code })
      })

      t.test('is not used up by a rejection', async (t) => {
        const { id, email } = await givenAccount({ verified: false })
        const shown = await token({ provider, email })
        t.match(await signIn(shown), { status: 401, code: 'ACCOUNT_NOT_VERIFIED' })
        await db.updateTable('accounts').set({ email_verified_at: new Date() }).where('id', '=', id).execute()
        t.match(await signIn(shown), { status: 200, user: { id } })
      })

      t.test('is valid for ten minutes after its issue, and not after it expires', async (t) => {
        t.match(await signIn(await token({ ...person, issuedAt: '-9m 50s', expiresIn: '1h' })), { status: 200 })
        t.match(await signIn(await token({ ...person, issuedAt: '-10m 10s', expiresIn: '1h' })), { status: 401, code })
        t.match(
          await signIn(await token({ ...person, issuedAt: '1m', expiresIn: '1h' })),
          { status: 401, code },
          'nor from the future'
        )
        t.match(await signIn(await token({ ...person, issuedAt: '-5m', expiresIn: '-10s' })), { status: 401, code })
      })
    })
  }

  t.test('a used token is kept for as long as it would be accepted', async (t) => {
    await db.deleteFrom('used_provider_tokens').execute()
    for (const age of ['14 minutes', '16 minutes']) {
      await sql`insert into used_provider_tokens values (${Buffer.from(age)}, now() - ${age}::interval)`.execute(db)
    }
    await runHousekeeping(db)
    t.strictSame(
      (await db.selectFrom('used_provider_tokens').select('digest').execute()).map(({ digest }) => digest.toString()),
      ['14 minutes']
    )
  })
})

t.test('a provider that is not configured rejects every token', async (t) => {
  t.equal(await createVerifier(undefined)(await token()), undefined)
  t.match(await get('/auth/provider-a'), { status: 405 })
})
