import t from 'tap'
import { as, createCheapHashing, inParallel, password, randomEmail, testApp } from '../test/app.ts'

let hashes = 0
const hashing = await createCheapHashing()
const { app, db, post, givenAccount, givenSession, codeMailedTo, login, canRefresh, publishedEvents, mail } =
  await testApp(t, {
    hashing: {
      ...hashing,
      hash: async (...args) => {
        hashes++
        return await hashing.hash(...args)
      },
      matches: async (...args) => {
        hashes++
        return await hashing.matches(...args)
      }
    }
  })

const another = 'Other-Door-7'
const change = async (account: { accessToken: string }, body: object = {}) =>
  await post('/auth/change-password', { currentPassword: password, password: another, ...body }, { as: account })
const changesOf = async (accountId: string) =>
  (await publishedEvents(accountId)).filter(({ type }) => type === 'password.changed').length
t.beforeEach(async () => {
  await db.deleteFrom('failed_password_attempts').execute()
})

/** Counts the passwords that are compared or hashed while `work` runs. */
async function countHashes (work: () => Promise<unknown>) {
  const before = hashes
  await work()
  return hashes - before
}

t.test('change-password requires the current password and ends every other session', async (t) => {
  const account = await givenAccount()
  const other = await givenSession(account)
  t.strictSame(await change(account), { status: 200, success: true, message: 'Your password has been changed' })
  t.ok(await canRefresh(account))
  t.notOk(await canRefresh(other))
  t.match(await login(account.email), { status: 401 })
  t.match(await login(account.email, { password: another }), { status: 200 })
  t.match((await publishedEvents(account.id)).slice(2, 4), [{ type: 'sessions.ended', sessionIds: [other.sessionId] }, {
    type: 'password.changed',
    how: 'CHANGED'
  }])
})

t.test('change-password rejects a wrong password, which counts as a failed sign-in', async (t) => {
  const account = await givenAccount()
  for (let times = 0; times < 5; times++) {
    t.match(await change(account, { currentPassword: 'Wrong-0ne' }), {
      status: 400,
      success: false,
      code: 'INVALID_CURRENT_PASSWORD',
      error: String
    })
  }
  const prolonged = await db.updateTable('failed_password_attempts').where('failures', '=', 5).set({
    blocked_until: new Date(Date.now() + 60_000)
  }).returning('failures').execute()
  t.equal(prolonged.length, 1)
  t.match(await login(account.email), { status: 401, code: 'INVALID_CREDENTIALS' })
  t.equal(await changesOf(account.id), 0)
})

t.test('change-password rejects an account without a password, a deleted account and a weak password', async (t) => {
  t.match(await change(await givenAccount({ hasPassword: false })), { status: 400, code: 'INVALID_CURRENT_PASSWORD' })
  t.match(await change(await givenAccount(), { password: 'weak' }), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await post('/auth/change-password', {}), { status: 401, code: 'UNAUTHORIZED' })
  const gone = await givenAccount()
  await db.deleteFrom('accounts').where('id', '=', gone.id).execute()
  t.match(await change(gone), { status: 404, code: 'USER_NOT_FOUND' })
})

t.test('one account cannot fill a mailbox by changing its password', async (t) => {
  await t.test('an unverified account cannot change its password', async (t) => {
    const email = randomEmail()
    const { user, ...attacker } = await post('/auth/register', {
      email,
      password,
      name: 'URGENT: unlock at http://evil.example'
    })
    await codeMailedTo(email)
    const hashes = await countHashes(async () => {
      for (let times = 0; times < 10; times++) {
        t.match(await change(attacker), { status: 403, success: false, code: 'EMAIL_NOT_VERIFIED', error: String })
      }
    })
    t.equal(hashes, 0)
    t.equal(await changesOf(user.id), 0)
    t.equal(mail.mails(email).length, 1, 'only the code of the registration')
  })

  await t.test('a verified account has five attempts an hour', async (t) => {
    const account = await givenAccount()
    let current = password
    for (let times = 1; times <= 5; times++) {
      t.match(await change(account, { currentPassword: current, password: `${another}${times}` }), { status: 200 })
      current = `${another}${times}`
    }
    const rejected = await change(account, { currentPassword: current })
    t.match(rejected, { status: 429, success: false, code: 'RATE_LIMITED', error: String })
    t.equal(await changesOf(account.id), 5)
    t.match(await change(await givenAccount()), { status: 200 }, 'attempts are counted per account')

    const hourAgo = new Date(Date.now() - 3_600_000)
    await db.updateTable('password_change_attempts').where('account_id', '=', account.id).set({
      attempted_at: [hourAgo, ...Array<Date>(4).fill(new Date())]
    }).execute()
    t.match(
      await change(account, { currentPassword: current }),
      { status: 200 },
      'an attempt is available again after an hour'
    )
    t.match(await change(account), { status: 429 })
  })
})

t.test('of 60 concurrent attempts five are allowed, and no password is hashed for the others', async (t) => {
  const account = await givenAccount()
  const hashes = await countHashes(async () => {
    const { tally } = await inParallel(60, async () => await change(account, { currentPassword: 'Wrong-0ne' }))
    t.strictSame(tally, { '400 INVALID_CURRENT_PASSWORD': 5, '429 RATE_LIMITED': 55 })
  })
  t.equal(hashes, 5)
})

t.test('a rejection has a Retry-After header', async (t) => {
  const account = await givenAccount()
  await inParallel(5, async () => await change(account, { currentPassword: 'Wrong-0ne' }))
  const { statusCode, headers } = await app.inject({
    method: 'POST',
    url: '/auth/change-password',
    headers: as(account),
    payload: { currentPassword: password, password: another }
  })
  t.equal(statusCode, 429)
  const seconds = Number(headers['retry-after'])
  t.ok(seconds > 3_500 && seconds <= 3_600, String(seconds))
})
