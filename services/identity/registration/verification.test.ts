import { setTimeout as sleep } from 'node:timers/promises'
import { importJWK, SignJWT, type JWK } from 'jose'
import t from 'tap'
import { digestsOfEmail } from '../remembered/digests.ts'
import { inParallel, password, randomEmail, testApp, wrongCode } from '../test/app.ts'

const { db, deps, post, get, givenAccount, codeMailedTo, login, canRefresh, publishedEvents, mail, redis } =
  await testApp(t)

const here = { from: '203.0.113.7' }
const sameNetwork = { from: '203.0.113.99' }
const elsewhere = { from: '198.51.100.7' }

async function givenRegistration ({ headers = {} } = {}) {
  const email = randomEmail()
  const { user, ...tokens } = await post('/auth/register', { email, password }, { ...here, headers })
  return {
    email,
    userId: user.id as string,
    accessToken: tokens.accessToken as string,
    refreshToken: tokens.refreshToken as string,
    code: await codeMailedTo(email)
  }
}
const verify = async (
  userId: string,
  code: string,
  request: { from: string, headers?: Record<string, string> } = here
) => await post('/auth/verify-email', { userId, code }, request)
const resend = async (email: string, request = here) => await post('/auth/resend-verification', { email }, request)
/** An access token of the account's session that expired `seconds` ago. */
async function expiredTokenOf (accountId: string, seconds = 60) {
  const { id: sessionId } = await db.selectFrom('sessions').where('account_id', '=', accountId).select('id')
    .executeTakeFirstOrThrow()
  const { public_key: { kid }, encrypted_private_key: encryptedPrivateKey } = await db.selectFrom('signing_keys')
    .select(['public_key', 'encrypted_private_key']).executeTakeFirstOrThrow()
  const now = Math.floor(Date.now() / 1_000)
  return await new SignJWT({ sid: sessionId, role: 'USER' })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid })
    .setSubject(accountId).setIssuer('tandem').setAudience('tandem')
    .setIssuedAt(now - seconds - 900).setExpirationTime(now - seconds)
    .sign(await importJWK(JSON.parse(deps.secrets.decrypt(encryptedPrivateKey)) as JWK, 'ES256'))
}
const requestsProcessed = async () => {
  while (await db.selectFrom('mail_requests').select('id').executeTakeFirst()) await sleep(10)
}
const isVerified = async (id: string) =>
  (await db.selectFrom('accounts').where('id', '=', id).select('email_verified_at').executeTakeFirst())
    ?.email_verified_at != null

t.test('the mailed code verifies an address, and the tokens of the registration stay valid', async (t) => {
  const { email, userId, code, ...tokens } = await givenRegistration()
  t.match(await login(email), { status: 403, success: false, code: 'EMAIL_NOT_VERIFIED', error: String })
  t.strictSame(await verify(userId, ` ${code} `), {
    status: 200,
    success: true,
    message: 'Your email address is verified',
    isNewUser: true
  })
  t.strictSame(await verify(userId, code), {
    status: 200,
    success: true,
    message: 'Your email address is already verified',
    alreadyVerified: true
  })
  t.match(await login(email), { status: 200, user: { emailVerified: true } })
  t.ok(await canRefresh(tokens))
  t.strictSame((await publishedEvents(userId)).filter(({ type }) => type === 'account.verified'), [{
    type: 'account.verified',
    accountId: userId
  }])
})

t.test('a wrong code, a malformed one and an unknown user have different errors', async (t) => {
  const { userId, code } = await givenRegistration()
  t.match(await verify(userId, wrongCode(code)), { status: 400, success: false, code: 'INVALID_CODE', error: String })
  for (const malformed of ['12345', '1234567', 'abcdef', '', 123456, undefined]) {
    t.match(
      await post('/auth/verify-email', { userId, code: malformed }),
      { status: 400, code: 'VALIDATION_ERROR' },
      String(malformed)
    )
  }
  t.match(await verify(crypto.randomUUID(), code), { status: 404, success: false, code: 'USER_NOT_FOUND' })
  t.match(await verify('nobody', code), { status: 404, code: 'USER_NOT_FOUND' })
  for (const nobody of [undefined, '', ' ', 5]) {
    t.match(await post('/auth/verify-email', { userId: nobody, code }), { status: 400, code: 'VALIDATION_ERROR' })
  }
  t.notOk(await isVerified(userId))
  t.match(await publishedEvents(userId), { length: 2 }, 'a rejection publishes nothing')
})

t.test('a code is read as people type it', async (t) => {
  const arabic = (code: string) => code.replace(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit)))
  const fullwidth = (code: string) => code.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)))
  const spellings = [
    (code: string) => ` ${code.slice(0, 3)} ${code.slice(3)}`,
    arabic,
    fullwidth,
    (code: string) => `${code.slice(0, 3)}-${code.slice(3)}`
  ]
  for (const spell of spellings) {
    const { id, email } = await givenAccount({ verified: false })
    await post('/auth/resend-verification', { email })
    const code = await codeMailedTo(email)
    t.match(await post('/auth/verify-email', { userId: id, code: spell(code) }), { status: 200 }, spell(code))
  }
})

t.test('the code of another account is rejected', async (t) => {
  const [ana, ben] = [await givenRegistration(), await givenRegistration()]
  if (ana.code !== ben.code) t.match(await verify(ana.userId, ben.code), { status: 400, code: 'INVALID_CODE' })
  t.match(await verify(ana.userId, ana.code), { status: 200 })
})

t.test('a code expires after 24 hours', async (t) => {
  const { userId, code } = await givenRegistration()
  const { left } = await db.selectFrom('codes').where('account_id', '=', userId)
    .select(({ fn, val, ref }) =>
      fn<number>('date_part', [val('epoch'), fn('age', [ref('expires_at'), fn('now')])]).as('left')
    ).executeTakeFirstOrThrow()
  t.ok(left > 24 * 3600 - 10 && left <= 24 * 3600)
  await db.updateTable('codes').set({ expires_at: new Date(Date.now() - 1) }).where('account_id', '=', userId).execute()
  t.match(await verify(userId, code), { status: 400, code: 'INVALID_CODE' })
})

t.test('20 concurrent uses of the correct code verify once', async (t) => {
  const { userId, code } = await givenRegistration()
  const { results, tally } = await inParallel(20, async () => await verify(userId, code))
  t.strictSame(tally, { 200: 20 })
  t.equal(results.filter((result) => 'isNewUser' in result).length, 1)
  t.equal(results.filter((result) => 'alreadyVerified' in result).length, 19)
  t.equal((await publishedEvents(userId)).filter(({ type }) => type === 'account.verified').length, 1)
})

t.test('of 200 concurrent wrong codes from elsewhere five are compared, and then the correct one is rejected there', async (t) => {
  const { userId, email, code } = await givenRegistration()
  const { tally } = await inParallel(
    200,
    async (index) => await verify(userId, wrongCode(code), { from: `198.51.${index}.1` })
  )
  t.strictSame(tally, { '400 INVALID_CODE': 200 })
  const attemptsOfToday = async () =>
    (await db.selectFrom('wrong_codes').where('account_id', '=', userId).select('id').execute()).length
  t.equal(await attemptsOfToday(), 5)
  t.match(await verify(userId, code, elsewhere), { status: 400, code: 'INVALID_CODE' })

  t.test('a new code has five more attempts, but the attempts of the day still count', async (t) => {
    await resend(email)
    const second = await codeMailedTo(email, 2)
    await inParallel(10, async () => await verify(userId, wrongCode(second)))
    await resend(email)
    const third = await codeMailedTo(email, 3)
    await inParallel(4, async () => await verify(userId, wrongCode(third)))
    t.equal(await attemptsOfToday(), 14, 'five of the first code, five of the second, four of the third')
    // As if a fourth and a fifth code had been used up as well; a recipient gets only three mails an hour.
    await db.insertInto('wrong_codes')
      .values(
        Array.from({ length: 11 }, () => ({
          account_id: userId,
          code_digest: Buffer.alloc(1),
          network: '203.0.113.0/24',
          is_known: false
        }))
      ).execute()
    t.match(await verify(userId, third), { status: 400, code: 'INVALID_CODE' })
    t.equal(await attemptsOfToday(), 25, 'twenty of this network, and five of all others')
    await db.updateTable('wrong_codes').set({ entered_at: new Date(Date.now() - 25 * 3_600_000) })
      .where('account_id', '=', userId).where('code_digest', '=', Buffer.alloc(1)).execute()
    t.match(await verify(userId, third), { status: 200, isNewUser: true }, 'the fifth attempt on another day')
  })
})

t.test('resend-verification', async (t) => {
  t.test('mails a new code that replaces the old one', async (t) => {
    const { userId, email, code } = await givenRegistration()
    t.strictSame(await resend(email.toUpperCase()), {
      status: 200,
      success: true,
      message: 'If this address is registered, we have sent a code to it',
      userId
    })
    const newer = await codeMailedTo(email, 2)
    if (newer !== code) t.match(await verify(userId, code), { status: 400, code: 'INVALID_CODE' })
    t.match(await verify(userId, newer), { status: 200, isNewUser: true })
    t.strictSame(await resend(email), {
      status: 200,
      success: true,
      message: 'Your email address is already verified',
      alreadyVerified: true
    })
  })

  t.test('has the same response for an unknown address, with the same fake id every time', async (t) => {
    const email = randomEmail()
    const [first, second] = [await resend(email), await resend(email.toUpperCase())]
    t.strictSame(first, second)
    t.match(first, {
      status: 200,
      success: true,
      message: String,
      userId: /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    })
    t.not((await resend(randomEmail())).userId, first.userId)
    t.match(await verify(first.userId, '000000'), { status: 404, code: 'USER_NOT_FOUND' })
    t.strictSame(mail.mails(email), [])
  })

  t.test('reveals neither a ban nor a change of address', async (t) => {
    const [banned, changed] = [randomEmail(), randomEmail()]
    const digests = digestsOfEmail(deps.secrets, banned)
    await db.insertInto('remembered')
      .values(
        digests.map((digest) => ({ digest, restriction: 'BANNED' as const, until: new Date(Date.now() + 60_000) }))
      )
      .execute()
    const { id } = await givenAccount()
    await db.insertInto('email_reverts')
      .values({ digest: digests[0]!, account_id: id, old_email: changed, expires_at: new Date(Date.now() + 60_000) })
      .execute()
    for (const email of [banned, changed]) {
      t.match(await post('/auth/check-email', { email }), { exists: true, isVerified: true })
      t.match(await resend(email), { status: 200, alreadyVerified: true }, 'as of every other verified address')
    }
  })

  t.test('mails an address three times an hour, and has the same response afterwards', async (t) => {
    const { userId, email } = await givenRegistration()
    const { tally } = await inParallel(6, async () => await resend(email))
    t.strictSame(tally, { 200: 6 })
    await requestsProcessed()
    const mails = await db.selectFrom('mails').where('recipient', '=', email).select('id').execute()
    t.equal(mails.length, 3)
    while (
      await db.selectFrom('mails').where('recipient', '=', email).where('status', 'in', ['pending', 'sending']).select(
        'id'
      ).executeTakeFirst()
    ) await sleep(10)
    t.match(
      await verify(userId, await codeMailedTo(email)),
      { status: 200 },
      'the code of the last mail is the one that counts'
    )
  })

  t.test('says EMAIL_FAILED when no mail can be sent, of known and unknown addresses alike', async (t) => {
    const { email } = await givenAccount({ verified: false })
    await mail.stop()
    t.teardown(() => mail.start())
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    t.match(await resend(email), { status: 500, success: false, code: 'EMAIL_FAILED', error: String })
    t.match(await resend(randomEmail()), { status: 500, success: false, code: 'EMAIL_FAILED', error: String })
  })

  t.test('is not lost while Redis is away', async (t) => {
    const { email } = await givenAccount({ verified: false })
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    await redis.stop()
    t.match(await resend(email), { status: 200 })
    await redis.start()
    t.match(await codeMailedTo(email), /^\d{6}$/)
  })

  t.test('rejects an invalid address', async (t) => {
    t.match(await post('/auth/resend-verification', { email: 'ana' }), { status: 400, code: 'VALIDATION_ERROR' })
  })
})

t.test('a verification from another network than the registration revokes the access of the registrant', async (t) => {
  const { email, userId, ...registrant } = await givenRegistration()
  await resend(email, elsewhere)
  t.match(await verify(userId, await codeMailedTo(email, 2), elsewhere), { status: 200, isNewUser: true })
  t.notOk(await canRefresh(registrant))
  t.match(await login(email), { status: 401, code: 'INVALID_CREDENTIALS' })
  t.match(await get('/auth/sessions', { as: registrant }), { data: { totalSessions: 0 } })
  t.match((await publishedEvents(userId)).slice(2), [
    { type: 'sessions.ended', sessionIds: { length: 1 } },
    { type: 'password.changed', how: 'CLEARED' },
    { type: 'account.verified' }
  ])
})

t.test('the registrant loses access even if they requested the last code or used up the mails', async (t) => {
  for (const asking of [[elsewhere, sameNetwork], [sameNetwork, sameNetwork, elsewhere]]) {
    const { email, userId, ...registrant } = await givenRegistration()
    for (const [index, from] of asking.entries()) {
      await resend(email, from)
      await codeMailedTo(email, Math.min(index + 2, 3))
      await requestsProcessed()
    }
    t.match(await verify(userId, await codeMailedTo(email, 3), elsewhere), { status: 200, isNewUser: true })
    t.notOk(await canRefresh(registrant))
    t.match(await login(email), { status: 401, code: 'INVALID_CREDENTIALS' })
  }
})

t.test('code requests from elsewhere do not affect a verification from the network of the registration', async (t) => {
  const { email, userId, ...tokens } = await givenRegistration()
  await resend(email, elsewhere)
  await codeMailedTo(email, 2)
  await resend(email, sameNetwork)
  t.match(await verify(userId, await codeMailedTo(email, 3), sameNetwork), { status: 200, isNewUser: true })
  t.ok(await canRefresh(tokens))
  t.match(await login(email), { status: 200 })
})

t.test('somebody who registers the address of another person loses access when that person enters the code', async (t) => {
  const attacker = { from: '127.50.1.1' }
  const owner = { from: '127.60.7.7' }
  const email = randomEmail()
  const tokens = await post('/auth/register', { email, password }, attacker)
  const { userId } = await post('/auth/check-email', { email }, owner)
  t.match(await verify(userId, await codeMailedTo(email), owner), { status: 200, isNewUser: true })
  t.match(await post('/auth/refresh', { refreshToken: tokens.refreshToken }, attacker), {
    status: 401,
    code: 'INVALID_REFRESH_TOKEN'
  })
  t.match(await login(email, {}, attacker), { status: 401, code: 'INVALID_CREDENTIALS' })
  t.match((await publishedEvents(userId)).slice(2), [{ type: 'sessions.ended' }, {
    type: 'password.changed',
    how: 'CLEARED'
  }, { type: 'account.verified' }])
})

t.test('the registrant keeps password and sessions in another network with an access token of the account, even an expired one', async (t) => {
  for (const expired of [false, true]) {
    const { email, userId, code, ...tokens } = await givenRegistration()
    const shown = expired ? await expiredTokenOf(userId) : tokens.accessToken
    t.match(await verify(userId, code, { ...elsewhere, headers: { authorization: `Bearer ${shown}` } }), {
      status: 200,
      isNewUser: true
    })
    t.match(await login(email), { status: 200 })
    t.ok(await canRefresh(tokens))
  }
})

t.test('no other token keeps them: of another account, of an ended session, older than a day, or forged', async (t) => {
  const tokens: Record<string, (registration: Awaited<ReturnType<typeof givenRegistration>>) => Promise<string>> = {
    'of another account': async () => (await givenAccount()).accessToken,
    'of a session that ended': async ({ accessToken }) => {
      await post('/auth/logout', {}, { as: { accessToken } })
      return accessToken
    },
    'too old': async ({ userId }) => await expiredTokenOf(userId, 2 * 24 * 3_600),
    forged: async ({ accessToken }) => accessToken.slice(0, -4) + 'AAAA',
    'not a token': async () => 'nonsense'
  }
  for (const [kind, findToken] of Object.entries(tokens)) {
    const registration = await givenRegistration()
    const { email, userId, code } = registration
    const authorization = `Bearer ${await findToken(registration)}`
    t.match(
      await verify(userId, code, { ...elsewhere, headers: { authorization } }),
      { status: 200, isNewUser: true },
      kind
    )
    t.notOk(await canRefresh(registration), kind)
    t.match(await login(email), { status: 401, code: 'INVALID_CREDENTIALS' }, kind)
  }
})
