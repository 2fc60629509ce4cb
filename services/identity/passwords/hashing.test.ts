import t from 'tap'
import { inParallel, password, randomEmail, testApp } from '../test/app.ts'
import { createFairQueue } from './fair-queue.ts'

const { post, givenAccount, login } = await testApp(t)

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

t.test('owners take turns, and the longest queue loses jobs', async (t) => {
  const enqueue = createFairQueue({ concurrency: 1, maxWaiting: 4, createError: () => new Error('full') })
  const order: string[] = []
  const add = async (owner: string, job: string) =>
    await enqueue(owner, async () => {
      order.push(job)
    }).catch((error: Error) => {
      order.push(`${job} ${error.message}`)
    })
  await Promise.all([
    add('a', 'a1'),
    add('a', 'a2'),
    add('a', 'a3'),
    add('a', 'a4'),
    add('a', 'a5'),
    add('a', 'a6'),
    add('b', 'b1'),
    add('c', 'c1'),
    add('c', 'c2'),
    add('b', 'b2')
  ])
  // a1 starts. a6 finds the queue full of a's own jobs; b1 and c1 replace a5 and a4; c2 and b2 cannot replace jobs of
  // owners with equally many.
  t.strictSame(order.filter((job) => job.includes('full')).sort(), [
    'a4 full',
    'a5 full',
    'a6 full',
    'b2 full',
    'c2 full'
  ])
  t.strictSame(order.filter((job) => !job.includes('full')), ['a1', 'a2', 'b1', 'c1', 'a3'])
})

t.test('a failed job makes room for the next', async (t) => {
  const enqueue = createFairQueue({ concurrency: 1, maxWaiting: 4, createError: () => new Error('full') })
  const failing = enqueue('a', async () => {
    throw new Error('broken')
  })
  t.equal(await enqueue('a', async () => 'done'), 'done')
  await t.rejects(failing, { message: 'broken' })
})
