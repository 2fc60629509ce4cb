import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { ProviderIdentity } from '../providers/tokens.ts'
import { inParallel, password, randomEmail, testApp } from '../test/app.ts'
import type { Provider } from '../tables.ts'

const identities = new Map<string, ProviderIdentity>()
const verify = async (token: string) => identities.get(token)
const app = await testApp(t, { providers: { PROVIDER_A: verify, PROVIDER_B: verify } })
const { db, get, post, send, givenAccount, givenSession, canRefresh, publishedEvents } = app

type Account = Awaited<ReturnType<typeof givenAccount>>

/** Signs in with an account at a provider. @returns a function that does it again */
async function signInWith (provider: Provider, email: string) {
  const token = randomUUID()
  identities.set(token, { subject: token, email })
  const signIn = async () =>
    provider === 'PROVIDER_A'
      ? await post('/auth/provider-a', { idToken: token })
      : await post('/auth/provider-b', { identityToken: token })
  return { first: await signIn(), again: signIn }
}
const listOf = async (as: Account) => (await get('/account/providers', { as })).data.providers
async function proofOf (as: Account) {
  await db.deleteFrom('proof_attempts').where('account_id', '=', as.id).execute()
  return (await post('/account/proof', { purpose: 'REMOVE_PROVIDER', password }, { as })).data.proof as string
}
const remove = async (as: Account, provider: string, proof: string) =>
  await send('DELETE', `/account/providers/${provider}`, { as, body: { proof } })
const eventsOf = async ({ id }: Account) => (await publishedEvents(id)).filter(({ type }) => type === 'provider.linked')

t.test('providers are listed, the oldest first, and the link of an account that exists is published once', async (t) => {
  const account = await givenAccount()
  t.match(await get('/account/providers', { as: account }), { status: 200, data: { providers: [] } })
  const a = await signInWith('PROVIDER_A', account.email)
  t.match(a.first, { status: 200, isNewUser: false, user: { id: account.id } })
  await a.again()
  const b = await signInWith('PROVIDER_B', account.email)
  t.match(b.first, { status: 200 })
  const listed = await listOf(account)
  t.match(listed, [{ provider: 'PROVIDER_A', linkedAt: /Z$/ }, { provider: 'PROVIDER_B', linkedAt: /Z$/ }])
  t.notMatch(JSON.stringify(listed), 'subject')
  t.same((await eventsOf(account)).map(({ provider }) => provider), ['PROVIDER_A', 'PROVIDER_B'])
  t.match(await get('/account/providers'), { status: 401, code: 'UNAUTHORIZED' })

  const { first: registered } = await signInWith('PROVIDER_A', randomEmail())
  t.equal(registered.status, 201)
  t.same(await eventsOf(registered.user), [], 'a new account is no news to its owner')
  t.match(await listOf(registered), [{ provider: 'PROVIDER_A' }])
})

t.test('a provider is removed with a proof, for every account there; other sessions end', async (t) => {
  const account = await givenAccount()
  const other = await givenSession(account)
  const mine = await signInWith('PROVIDER_A', account.email)
  const theirs = await signInWith('PROVIDER_A', account.email)
  t.equal((await listOf(account)).length, 2)
  const { data: { proof: another } } = await post('/account/proof', { purpose: 'EXPORT', password }, { as: account })
  for (const proof of ['x', another]) {
    t.match(await remove(account, 'PROVIDER_A', proof), { status: 403, code: 'PROOF_REQUIRED' })
  }
  t.match(await remove(account, 'PROVIDER_A', await proofOf(account)), { status: 200, message: String })
  t.same(await listOf(account), [])
  t.ok(await canRefresh(account))
  for (const session of [other, mine.first, theirs.first]) t.notOk(await canRefresh(session))
  t.match(await remove(account, 'PROVIDER_A', await proofOf(account)), { status: 404, code: 'NOT_FOUND' })
  t.match(await remove(account, 'nobody', await proofOf(account)), { status: 404, code: 'NOT_FOUND' })
  const events = await db.selectFrom('security_events').where('account_id', '=', account.id)
    .where('kind', '=', 'PROVIDER_REMOVED').select('detail').execute()
  t.same(events, [{ detail: { provider: 'PROVIDER_A', by: 'OWNER' } }])

  identities.forEach((identity, token) => identities.set(token, { subject: identity.subject }))
  t.match(await theirs.again(), { status: 401 }, 'an account there with another address does not sign in any more')
})

t.test('the last way to sign in stays: without a password, another provider is needed', async (t) => {
  const { first: registered } = await signInWith('PROVIDER_A', randomEmail())
  const account = { ...registered, ...registered.user } as Account
  let mailed = 0
  const proofByCode = async () => {
    await post('/account/proof/code', { purpose: 'REMOVE_PROVIDER' }, { as: account })
    const code = await app.codeMailedTo(account.email, ++mailed)
    return (await post('/account/proof', { purpose: 'REMOVE_PROVIDER', code }, { as: account })).data.proof as string
  }
  const proof = await proofByCode()
  t.match(await remove(account, 'PROVIDER_A', proof), { status: 409, code: 'LAST_SIGN_IN_METHOD', error: String })
  await signInWith('PROVIDER_B', account.email)
  t.match(await remove(account, 'PROVIDER_A', proof), { status: 200 }, 'the proof was not used up')
  t.match(await remove(account, 'PROVIDER_B', await proofByCode()), { status: 409 })
  t.match(await post('/auth/set-initial-password', { password }, { as: account }), { status: 200 })
  t.match(await remove(account, 'PROVIDER_B', await proofOf(account)), { status: 200 })
})

t.test('of both providers of an account without a password, one can be removed at once', async (t) => {
  for (let round = 0; round < 10; round++) {
    const account = await givenAccount()
    const other = await givenSession(account)
    await signInWith('PROVIDER_A', account.email)
    await signInWith('PROVIDER_B', account.email)
    const proofs = [await proofOf(account), await proofOf(other)]
    await db.updateTable('accounts').set({ password_hash: null }).where('id', '=', account.id).execute()
    const { results } = await inParallel(2, async (index) =>
      index === 0
        ? await remove(account, 'PROVIDER_A', proofs[0]!)
        : await remove(other, 'PROVIDER_B', proofs[1]!))
    // The first one ends the session of the second one.
    t.same(results.map(({ status }) => String(status)).toSorted(), ['200', '401'])
    const left = await db.selectFrom('provider_links').where('account_id', '=', account.id).select('provider').execute()
    t.equal(left.length, 1)
  }
})

t.test('a sign-in with a provider and its removal at the same moment leave no session of the provider', async (t) => {
  for (let round = 0; round < 20; round++) {
    const account = await givenAccount()
    const { again } = await signInWith('PROVIDER_A', account.email)
    // At the provider, the address is another one by now.
    identities.forEach((identity, token) => identities.set(token, { subject: identity.subject }))
    const proof = await proofOf(account)
    const [signedIn, removed] = await Promise.all([again(), remove(account, 'PROVIDER_A', proof)])
    t.equal(removed.status, 200)
    if (signedIn.status === 200) t.notOk(await canRefresh(signedIn))
    else t.equal(signedIn.status, 401)
  }
})
