import argon2 from 'argon2'
import t from 'tap'
import { inParallel, password, randomEmail, testApp } from '../test/app.ts'
import { createHashing } from './hashing.ts'

// A fifth of the work of a service: it still takes far longer than a request takes to arrive, so that they wait.
const hashing = await createHashing({ type: argon2.argon2id, memoryCost: 4_096, timeCost: 2, parallelism: 1 })
const { post, givenAccount, login } = await testApp(t, { hashing })

const isServed = ({ tally }: { tally: Record<string, number> }) =>
  Object.keys(tally).every((outcome) => !outcome.startsWith('503'))

t.test('others can sign in while one account floods change-password', async (t) => {
  const attacker = await givenAccount()
  const others = await Promise.all(Array.from({ length: 12 }, async () => await givenAccount()))
  const change = async () =>
    await post('/auth/change-password', { currentPassword: 'Wrong-0ne', password: 'Other-Door-7' }, { as: attacker })
  const [attack, signIns, registrations] = await Promise.all([
    inParallel(340, change),
    inParallel(12, async (index) => await login(others[index]!.email)),
    inParallel(3, async () => await post('/auth/register', { email: randomEmail(), password }))
  ])
  t.strictSame(signIns.tally, { 200: 12 })
  t.strictSame(registrations.tally, { 201: 3 })
  t.ok(isServed(attack))
})

t.test('others can sign in while passwords are guessed for one address, known or unknown', async (t) => {
  for (const { email } of [await givenAccount(), { email: randomEmail() }]) {
    const others = await Promise.all(Array.from({ length: 12 }, async () => await givenAccount()))
    const [attack, signIns] = await Promise.all([
      inParallel(340, async () => await login(email, { password: 'Wrong-0ne' })),
      inParallel(12, async (index) => await login(others[index]!.email))
    ])
    t.strictSame(signIns.tally, { 200: 12 })
    t.ok(attack.tally['503 SERVICE_UNAVAILABLE']! > 0, 'the guesses are rejected')
  }
})

t.test('too many concurrent sign-ins are partly rejected with 503', async (t) => {
  const { tally } = await inParallel(240, async () => await login(randomEmail()))
  t.ok(tally['503 SERVICE_UNAVAILABLE']! > 0)
  t.strictSame(Object.keys(tally).sort(), ['401 INVALID_CREDENTIALS', '503 SERVICE_UNAVAILABLE'])
})
