import { sql } from 'kysely'
import t from 'tap'
import { inParallel, password, randomEmail, testApp } from '../test/app.ts'

const { db, get, post, givenAccount, mail, codeMailedTo, linkMailedTo } = await testApp(t)
type Account = Awaited<ReturnType<typeof givenAccount>>

/** How a code or link is asked for, and whether the one in the newest mail works. */
interface Kind {
  ask: (account: Account) => Promise<{ status: number }>
  isValid: (account: Account) => Promise<boolean>
  /** The recipient, if it is not the account. */
  newEmail?: string
}

const isOk = async (response: Promise<{ status: number }>) => (await response).status < 300

const proof = (purpose: string): Kind => ({
  ask: async (as) => await post('/account/proof/code', { purpose }, { as }),
  isValid: async (as) => await isOk(post('/account/proof', { purpose, code: await codeMailedTo(as.email) }, { as }))
})

function newEmail (): Kind {
  const email = randomEmail()
  return {
    newEmail: email,
    ask: async (as) => {
      const { data: { proof } } = await post('/account/proof', { purpose: 'CHANGE_EMAIL', password }, { as })
      return await post('/account/email', { email, proof }, { as })
    },
    isValid: async (as) => await isOk(post('/account/email/confirm', { code: await codeMailedTo(email) }, { as }))
  }
}

const createKinds = (): Record<string, Kind> => ({
  verification: {
    ask: async ({ email }) => await post('/auth/resend-verification', { email }),
    isValid: async ({ id, email }) =>
      await isOk(post('/auth/verify-email', { userId: id, code: await codeMailedTo(email) }))
  },
  'sign-in': {
    ask: async ({ email }) => await post('/auth/request-code', { email }),
    isValid: async ({ email }) => await isOk(post('/auth/login-code', { email, code: await codeMailedTo(email) }))
  },
  'password reset': {
    ask: async ({ email }) => await post('/auth/forgot-password', { email }),
    isValid: async ({ email }) => {
      const { token } = await linkMailedTo(email)
      const query = new URLSearchParams({ email, token: token ?? '' }).toString()
      return (await get(`/auth/reset-password?${query}`)).data.valid as boolean
    }
  },
  'deletion link': {
    ask: async ({ email }) => await post('/account/deletion/link', { email }),
    isValid: async ({ email }) => {
      const { token } = await linkMailedTo(email)
      return await isOk(post('/account/deletion/confirm', { token }))
    }
  },
  'proof for a deletion': proof('DELETE'),
  'proof for an export': proof('EXPORT'),
  'proof for a change of address': proof('CHANGE_EMAIL'),
  'change of address': newEmail()
})

const givenKinds = async () =>
  await Promise.all(
    Object.entries(createKinds()).map(async ([name, kind]) => {
      const account = await givenAccount({ verified: name !== 'verification' })
      return { name, account, recipient: kind.newEmail ?? account.email, ...kind }
    })
  )

const until = async (check: () => Promise<boolean>) => {
  while (!await check()) await new Promise((resolve) => setTimeout(resolve, 20))
}
const areRequestsProcessed = async () =>
  await db.selectFrom('mail_requests').select('id').executeTakeFirst() === undefined
const areMailsSettled = async () =>
  await areRequestsProcessed() &&
  await db.selectFrom('mails').where('status', 'in', ['pending', 'sending']).select('id').executeTakeFirst() ===
    undefined
/** Whether the newest mail to each of them was rejected, or is being sent. */
const areAttempted = async (recipients: string[]) => {
  const newest = db.selectFrom('mails').where('recipient', 'in', recipients).where('superseded', '=', false)
  return await areRequestsProcessed() &&
    (await newest.where('attempts', '>', 0).select('id').execute()).length >= recipients.length
}

t.test('a mail that failed never arrives after a newer one, and the one that arrives last works', async (t) => {
  const kinds = await givenKinds()
  mail.rejectWith(451)
  for (const { name, ask, account } of kinds) t.match(await ask(account), { status: 200 }, name)
  const recipients = kinds.map(({ recipient }) => recipient)
  await until(async () => await areAttempted(recipients))
  await Promise.all(kinds.map(async ({ name, ask, account }) => {
    const { tally } = await inParallel(2, async () => await ask(account))
    t.strictSame(tally, { 200: 2 }, name)
  }))
  await until(async () => await areAttempted(recipients))
  mail.rejectWith()
  await until(areMailsSettled)
  for (const { name, account, recipient, isValid } of kinds) {
    t.equal(mail.mails(recipient).length, 1, `${name}: only the newest was sent`)
    t.ok(await isValid(account), name)
  }
})

t.test('a mail that waited until its code or link expired is dropped, and does not hold back the next', async (t) => {
  const kinds = await givenKinds()
  mail.rejectWith(451)
  for (const { name, ask, account } of kinds) {
    for (let times = 0; times < 3; times++) t.match(await ask(account), { status: 200 }, name)
  }
  await until(async () => await areAttempted(kinds.map(({ recipient }) => recipient)))
  for (const table of ['mails', 'codes', 'password_resets', 'deletion_links'] as const) {
    await sql`update ${sql.table(table)} set expires_at = now()`.execute(db)
  }
  await until(areMailsSettled)
  mail.rejectWith()
  for (const { name, ask, account } of kinds) t.match(await ask(account), { status: 200 }, name)
  await until(areMailsSettled)
  for (const { name, account, recipient, isValid } of kinds) {
    t.equal(mail.mails(recipient).length, 1, `${name}: only the newest was sent`)
    t.ok(await isValid(account), name)
  }
})
