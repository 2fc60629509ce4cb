import t from 'tap'
import { password as current, randomEmail, testApp } from '../test/app.ts'

const { post, givenAccount, linkMailedTo } = await testApp(t)

const long = (length: number) => `Aa1${'x'.repeat(length - 3)}`
const bad = ['пароль12', 'Abcdef1', 'abcdefg1', 'ABCDEFG1', 'Abcdefgh', '12345678', long(129), '', 12_345_678]
const good = ['Abcdefg1', long(128), 'Пароль12', '私の秘密の言葉7', 'كلمةسري٣', 'Straße-٣٤']

t.test('the password rules are the same on every route of a person who is signed in or registers', async (t) => {
  const changing = await givenAccount()
  const beginner = await givenAccount({ hasPassword: false, provider: 'PROVIDER_A' })
  const routes = {
    register: async (password: unknown) => await post('/auth/register', { email: randomEmail(), password }),
    'set-initial-password': async (password: unknown) =>
      await post('/auth/set-initial-password', { password }, { as: beginner }),
    'change-password': async (password: unknown) =>
      await post('/auth/change-password', { currentPassword: current, password }, { as: changing })
  }
  for (const [route, setPassword] of Object.entries(routes)) {
    for (const password of bad) {
      t.match(
        await setPassword(password),
        { status: 400, success: false, code: 'VALIDATION_ERROR' },
        `${route} ${password}`
      )
    }
    const accepted = route === 'register' ? 201 : 200
    // A link and a first password can be used once.
    for (const password of route === 'register' ? good : good.slice(0, 1)) {
      t.match(await setPassword(password), { status: accepted }, `${route} ${password}`)
    }
  }
})

t.test('a password that is set with a mailed link needs 8 to 128 characters, of any kind', async (t) => {
  const reset = async (password: unknown) => {
    const { email } = await givenAccount()
    await post('/auth/forgot-password', { email })
    const { token } = await linkMailedTo(email)
    const { status, code } = await post('/auth/reset-password', { email, token, password })
    const { status: login } = await post('/auth/login', { email, password })
    return { status, code, login }
  }
  for (const password of ['12345678', 'abcdefgh', 'ABCDEFGH', 'kata sandi', '😀'.repeat(8), 'a'.repeat(128)]) {
    t.match(await reset(password), { status: 200, login: 200 }, password)
  }
  for (const password of ['1234567', 'a'.repeat(129), '', 12_345_678]) {
    t.match(await reset(password), { status: 400, code: 'VALIDATION_ERROR' }, String(password))
  }
})
