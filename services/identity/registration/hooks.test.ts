import t from 'tap'
import { startHookProvider } from '@tandem/http-kit/testing'
import { password, randomEmail, testApp } from '../test/app.ts'

const provider = await startHookProvider(t)
const hooks = (without: 'allow' | 'deny') => provider.hooks('before-registration', without)
const providers = {
  PROVIDER_A: async (token: string) => ({ subject: token, email: `${token}@example.com`, name: 'Ana' })
}
const [allowing, denying] = [
  await testApp(t, { hooks: hooks('allow'), providers }),
  await testApp(t, { hooks: hooks('deny'), providers })
]

type App = typeof allowing

const register = async ({ post }: App, email = randomEmail(), name?: string) =>
  await post('/auth/register', { email, password, ...(name !== undefined && { name }) })
const accountOf = async ({ db }: App, email: string) =>
  await db.selectFrom('accounts').where('email', '=', email).select(['name', 'locale']).executeTakeFirst()

t.test('a registration that the hook denies makes no account', async (t) => {
  provider.replyWith({ decision: 'deny', text: 'Members of the club only' })
  const email = randomEmail()
  t.match(await register(allowing, email, 'Ana'), { status: 403, code: 'FORBIDDEN', error: 'Members of the club only' })
  t.match(provider.asked.at(-1), { type: 'before-registration', data: { email, name: 'Ana', provider: null } })
  t.notMatch(JSON.stringify(provider.asked), password)
  t.equal(await accountOf(allowing, email), undefined)
  provider.replyWith({ decision: 'allow' })
  t.match(await register(allowing, email, 'Ana'), { status: 201 })
})

t.test('the hook sets the name and the language, and only to what people could choose', async (t) => {
  provider.replyWith({ decision: 'allow', set: { name: 'Ana Putri', locale: 'id', role: 'ADMIN' } })
  const email = randomEmail()
  t.match(await register(allowing, email, 'ana'), { status: 201 })
  t.match(await accountOf(allowing, email), { name: 'Ana Putri', locale: 'id' })
  const admins = await allowing.db.selectFrom('accounts').where('role', '=', 'ADMIN').select('id').execute()
  t.same(admins, [])
  provider.replyWith({ decision: 'allow', set: { name: 'Tandem Support' } })
  const other = randomEmail()
  t.match(await register(allowing, other, 'Ben'), { status: 201 })
  t.match(await accountOf(allowing, other), { name: 'Ben' })
})

t.test('without an answer, the setting decides', async (t) => {
  for (const reply of ['NO_ANSWER', 'DEAD', 'rubbish', { status: 500 }]) {
    provider.replyWith(reply)
    const email = randomEmail()
    const [allowed, denied] = await Promise.all([register(allowing), register(denying, email)])
    t.match(allowed, { status: 201 }, JSON.stringify(reply))
    t.match(denied, { status: 403, code: 'FORBIDDEN' })
    t.equal(await accountOf(denying, email), undefined)
  }
})

t.test('a first sign-in by a provider is asked about, and a later one is not', async (t) => {
  const signIn = async () => await allowing.post('/auth/provider-a', { idToken: 'ana' })
  provider.replyWith({ decision: 'deny' })
  t.match(await signIn(), { status: 403, code: 'FORBIDDEN' })
  t.match(provider.asked.at(-1), { data: { email: 'ana@example.com', name: 'Ana', provider: 'PROVIDER_A' } })
  t.equal(await accountOf(allowing, 'ana@example.com'), undefined)
  provider.replyWith({ decision: 'allow' })
  t.match(await signIn(), { status: 201 })
  const asked = provider.asked.length
  provider.replyWith({ decision: 'deny' })
  t.match(await signIn(), { status: 200 })
  t.equal(provider.asked.length, asked)
})
