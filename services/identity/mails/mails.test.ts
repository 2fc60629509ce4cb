import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { pendingMails } from '@tandem/mail-kit/testing'
import { randomEmail, testApp } from '../test/app.ts'
import { insertMailRequest, processMailRequest } from './actions.ts'
import { createMailRequests } from './requests.ts'
import { renderDecisionMail } from '../decisions/decision-mail.ts'
import { silentLog } from '@tandem/http-kit/testing'

const { db, deps, redis, post, givenAccount, mailsTo, mail } = await testApp(t)

const requestsProcessed = async () => {
  while (await db.selectFrom('mail_requests').select('id').executeTakeFirst()) await sleep(10)
}
const isSeparateWord = (code: string, text: string) => text.split(/\s+/).includes(code)

t.test('mails are in the language of the registration', async (t) => {
  for (
    const [language, subject] of [['id-ID,id;q=0.9', 'adalah kode Tandem Anda'], ['en', 'is your Tandem code'], [
      'fr',
      'is your Tandem code'
    ]] as const
  ) {
    const email = randomEmail()
    await post('/auth/register', { email, password: 'Abcdefg1', name: 'Visit https://evil.example' }, {
      headers: { 'accept-language': language }
    })
    const [received] = await mailsTo(email)
    const code = received!.subject.slice(0, 6)
    t.match(code, /^\d{6}$/)
    t.ok(received!.subject.endsWith(subject), language)
    t.ok(isSeparateWord(code, received!.text))
    t.ok(received!.html.includes(`>${code}<`))
    t.match(received, { to: [email], from: 'hello@tandem.example' })
    t.notMatch(received!.text + received!.html, /evil/, 'it contains no text that the registrant chose')
  }
})

t.test('every kind of mail has its code or link, in both languages', async (t) => {
  for (const locale of ['en', 'id']) {
    const { id, email } = await givenAccount()
    await db.updateTable('accounts').set({ locale }).where('id', '=', id).execute()
    await post('/auth/request-code', { email })
    const [code] = await mailsTo(email)
    t.match(
      code!.subject,
      locale === 'en' ? /^\d{6} is your Tandem sign-in code$/ : /^\d{6} adalah kode masuk Tandem Anda$/
    )
    t.ok(isSeparateWord(code!.subject.slice(0, 6), code!.text))

    await post('/auth/forgot-password', { email })
    const [link] = await mailsTo(email, 2)
    const url = new URL(/https:\S+/.exec(link!.text)![0])
    t.strictSame([url.pathname, url.search], ['/reset-password', ''], 'the token is not visible to proxies')
    t.match(Object.fromEntries(new URLSearchParams(url.hash.slice(1))), { token: /^[\w-]{43}$/, email })
    t.ok(link!.html.includes(`href="${url.href.replaceAll('&', '&amp;')}"`))
    t.match(link!.subject, locale === 'en' ? 'Choose a new password for Tandem' : 'Buat kata sandi baru untuk Tandem')
  }
})

t.test('a request is processed once, however often it is started', async (t) => {
  const { id, email } = await givenAccount({ verified: false })
  await redis.stop()
  t.teardown(() => redis.start())
  const request = await insertMailRequest(db, { kind: 'VERIFY', email, network: 'here' })
  const options = { secrets: deps.secrets, publicUrl: 'https://tandem.example' }
  const mails = await Promise.all(Array.from({ length: 5 }, async () => await processMailRequest(db, options, request)))
  t.equal(mails.filter(Boolean).length, 1)
  t.equal((await pendingMails(db)).filter(({ recipient }) => recipient === email).length, 1)
  t.match(await db.selectFrom('codes').where('account_id', '=', id).select('attempts').execute(), [{ attempts: 0 }])
})

t.test('a request survives the process that accepted it', async (t) => {
  const { email } = await givenAccount({ verified: false })
  // As if the process had crashed after the insert and before it enqueued the job.
  await insertMailRequest(db, { kind: 'VERIFY', email, network: 'here' })
  const next = createMailRequests({
    db,
    secrets: deps.secrets,
    mailer: deps.mailer,
    redisUrl: redis.url,
    publicUrl: 'https://tandem.example',
    log: silentLog
  })
  t.teardown(() => next.close())
  next.start()
  await mailsTo(email)
  t.equal(mail.mails(email).length, 1)
  t.strictSame(await db.selectFrom('mail_requests').select('id').execute(), [])
})

t.test('requests from elsewhere do not use up the mails that the owner needs', async (t) => {
  const { email } = await givenAccount()
  const [home, elsewhere] = [{ from: '203.0.113.7' }, { from: '198.51.100.7' }]
  const request = async (path: string, from: { from: string }, times: number) => {
    for (let time = 0; time < times; time++) await post(path, { email }, from)
    await requestsProcessed()
  }
  const queued = async () =>
    Object.fromEntries((await db.selectFrom('mails').where('recipient', '=', email)
      .select(({ fn }) => ['rate_limit_key', fn.countAll<number>().as('count')]).groupBy('rate_limit_key').execute())
      .map(({ rate_limit_key: key, count }) => [key, Number(count)]))

  await request('/auth/request-code', elsewhere, 5)
  t.strictSame(await queued(), { SIGN_IN: 3 })
  await request('/auth/forgot-password', elsewhere, 1)
  t.strictSame(await queued(), { SIGN_IN: 3, RESET: 1 })
  while (!mail.mails(email).some(({ subject }) => subject === 'Choose a new password for Tandem')) await sleep(10)

  await t.test('a network that the account has signed in from has a limit of its own for each kind', async (t) => {
    await request('/auth/forgot-password', elsewhere, 5)
    await request('/auth/forgot-password', home, 5)
    await request('/auth/request-code', home, 1)
    t.strictSame(await queued(), { SIGN_IN: 3, RESET: 3, 'RESET KNOWN_NETWORK': 3, 'SIGN_IN KNOWN_NETWORK': 1 })
  })
})

t.test("somebody who registers another person's address has one limit for each kind of mail", async (t) => {
  const email = randomEmail()
  await post('/auth/register', { email, password: 'Abcdefg1' })
  for (const from of ['203.0.113.7', '198.51.100.7']) {
    for (const path of ['resend-verification', 'request-code', 'forgot-password']) {
      for (let times = 0; times < 4; times++) await post(`/auth/${path}`, { email }, { from })
    }
  }
  await requestsProcessed()
  t.equal((await db.selectFrom('mails').where('recipient', '=', email).select('id').execute()).length, 9)
})

t.test('a code whose mail was rejected does not arrive after a newer one', async (t) => {
  const email = randomEmail()
  const queued = async () =>
    await db.selectFrom('mails').where('recipient', '=', email).where('status', 'in', ['pending', 'sending']).select(
      'attempts'
    ).execute()
  await mail.stop()
  const { user } = await post('/auth/register', { email, password: 'Abcdefg1' })
  while (!(await queued()).some(({ attempts }) => attempts > 0)) await sleep(20)
  t.match(await post('/auth/resend-verification', { email }), { status: 500, code: 'EMAIL_FAILED' })
  await mail.start()
  t.match(await post('/auth/resend-verification', { email }), { status: 200 }, 'the server is found to be back')
  await requestsProcessed()
  while ((await queued()).length > 0) await sleep(20)

  const mails = await mailsTo(email)
  const codes = mails.map(({ subject }) => subject.slice(0, 6))
  t.match(
    await post('/auth/verify-email', { userId: user.id, code: codes[0] }),
    { status: 200 },
    'the code that arrived last works'
  )
  const outcomes = await db.selectFrom('mails').where('recipient', '=', email).orderBy('id').select('status').execute()
  // The first one may have been retried in the moment before the newer code was requested.
  t.match(outcomes, [{ status: /^(failed|sent)$/ }, { status: 'sent' }])
  t.equal(mails.length, outcomes.filter(({ status }) => status === 'sent').length)
})

t.test('a mail about a decision quotes no link and no markup', (t) => {
  const hostile = '<a href="https://evil.example">Sign in</a> at www.evil.com, https://evil.example/x\r\n\u202e'
  for (const locale of ['en', 'id']) {
    const { text, html } = renderDecisionMail({
      locale,
      actions: [{ type: 'HIDE_CONTENT', scope: null, until: null, photoId: null }],
      reason: 'SPAM',
      statement: '',
      excerpt: hostile,
      isAutomated: false,
      url: 'https://tandem.example/appeal'
    })
    t.match(text, /“Sign in at www\. evil\. com, …”/)
    t.notMatch(text + html, /evil\.\p{L}|href="https:\/\/evil|\u202e/u)
  }
  t.end()
})
