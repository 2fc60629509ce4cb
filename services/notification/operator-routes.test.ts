import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { checkOperatorRoutes, operatorBearer } from '@tandem/operator-kit/testing'
import { createMail } from '@tandem/mail-kit'
import { testApp } from './test/app.ts'

const { app, db, deps, person, inbox } = await testApp(t)
async function operate (method: 'GET' | 'POST', path: string, payload?: object, headers = operatorBearer()) {
  const response = await app.inject({ method, url: path, headers, ...(payload && { payload }) })
  return { status: response.statusCode, ...response.json() }
}

t.test('nothing below /operator is open', async (t) => await checkOperatorRoutes(t, app))

t.test('support sees the deliveries of a person, without their texts', async (t) => {
  const accountId = randomUUID()
  const { rows: [notification] } = await sql<{ id: string }>`
    insert into notifications (id, account_id, dedupe_key, kind, type, data, params, listed)
    values (uuidv7(), ${accountId}, 'a', 'followed', 'SOCIAL_FEED', '{}', '{}', true) returning id`.execute(db)
  await sql`
    insert into deliveries (id, notification_id, account_id, device_id, platform, low_priority, status, due_at)
    values (uuidv7(), ${notification!.id}, ${accountId}, ${randomUUID()}, 'android', false, 'sent', now())`.execute(db)
  const path = `/operator/deliveries?accountId=${accountId}`
  t.match(await operate('GET', `${path}&reason=no%20pushes`, undefined, operatorBearer('SUPPORT')), {
    status: 200,
    data: { deliveries: [{ kind: 'followed', platform: 'android', status: 'sent' }] }
  })
  t.match(await operate('GET', path), { status: 400, code: 'VALIDATION_ERROR' })
  await db.transaction().execute(async (trx) =>
    await createMail(trx, {
      dedupeKey: `meeting-shared:${accountId}`,
      recipient: 'a@example.com',
      accountId,
      subject: 'Secret',
      text: 'Secret',
      html: 'Secret'
    })
  )
  const mails = await operate(
    'GET',
    `/operator/mails?accountId=${accountId}&reason=no%20mail`,
    undefined,
    operatorBearer('SUPPORT')
  )
  t.match(mails, { status: 200, data: { mails: [{ kind: 'meeting-shared', status: 'pending', sentAt: null }] } })
  t.notMatch(JSON.stringify(mails), /Secret|example/)
})

t.test('an operator sees at most 60 people an hour here too', async (t) => {
  const headers = operatorBearer('SUPPORT')
  const look = async () =>
    (await operate('GET', `/operator/deliveries?accountId=${randomUUID()}&reason=curious`, undefined, headers)).status
  const found = await Promise.all(Array.from({ length: 61 }, look))
  t.equal(found.filter((status) => status === 200).length, 60)
  t.equal(found.filter((status) => status === 429).length, 1)
})

t.test('administrators send a broadcast, and stop it', async (t) => {
  const text = { en: 'New classes', id: 'Kelas baru' }
  const { status, data } = await operate('POST', '/operator/broadcasts', {
    title: text,
    body: text,
    reason: 'new season'
  })
  t.equal(status, 201)
  t.match((await operate('GET', '/operator/broadcasts')).data.broadcasts, [{
    id: data.id,
    title: text,
    finishedAt: null
  }])
  t.match(await operate('POST', `/operator/broadcasts/${data.id}/stop`), { status: 200 })
  t.match(await operate('POST', `/operator/broadcasts/${data.id}/stop`), { status: 404, code: 'NOT_FOUND' })
  t.match(await operate('POST', '/operator/broadcasts', { title: { en: 'Only English' }, body: text, reason: 'x y' }), {
    status: 400
  })
})

t.test('a broadcast is tested on oneself', async (t) => {
  const accountId = await person('Olga')
  const ben = await person('Ben')
  const text = { title: { en: 'Soon', id: 'Segera' }, body: { en: 'Soon', id: 'Segera' } }
  t.match(await operate('POST', '/operator/broadcasts/test', text, operatorBearer('ADMIN', { accountId })), {
    status: 200
  })
  t.match(await inbox(accountId), { notifications: [{ type: 'ADMIN', title: 'Soon' }] })
  t.match(await inbox(ben), { notifications: { length: 0 } })
  t.match(await operate('POST', '/operator/broadcasts/test', text), { status: 409, code: 'APP_ACCOUNT_MISSING' })
})

t.test('where a broadcast takes two operators, nobody receives it before, and it is sent once', async (t) => {
  deps.fourEyes = new Set(['BROADCAST'])
  t.teardown(() => {
    deps.fourEyes = new Set()
  })
  const text = { title: { en: 'Two', id: 'Dua' }, body: { en: 'Two', id: 'Dua' } }
  const id = randomUUID()
  const proposer = operatorBearer('ADMIN', { id })
  const { status, data: { proposalId } } = await operate('POST', '/operator/broadcasts', {
    ...text,
    reason: 'new season'
  }, proposer)
  t.equal(status, 202)
  const sent = async () =>
    (await operate('GET', '/operator/broadcasts')).data.broadcasts
      .filter(({ title }: { title: { en: string } }) => title.en === 'Two')
  t.same(await sent(), [])
  t.match((await operate('GET', '/operator/proposals')).data.proposals, [{
    id: proposalId,
    kind: 'BROADCAST',
    payload: text
  }])
  const confirm = `/operator/proposals/${proposalId}/confirm`
  t.match(await operate('POST', confirm, undefined, proposer), { status: 403, code: 'FORBIDDEN' })
  const second = operatorBearer('ADMIN', { invitedBy: [id] })
  t.match(await operate('POST', confirm, undefined, second), { status: 403, code: 'NOT_INDEPENDENT' })
  const unripe = operatorBearer('ADMIN', { canConfirm: false })
  t.match(await operate('POST', confirm, undefined, unripe), { status: 403, code: 'PASSKEY_TOO_NEW' })
  t.same(await sent(), [])
  const answers = await Promise.all(Array.from({ length: 5 }, async () => await operate('POST', confirm)))
  t.equal(answers.filter((answer) => answer.status === 200).length, 1)
  t.match(answers.find((answer) => answer.status !== 200), { status: 404, code: 'NOT_FOUND' })
  t.equal((await sent()).length, 1)
})

t.test('the audit says where an endpoint is, without what its address may hide', async (t) => {
  const url = 'https://crm.example.com/hooks/secret?key=secret'
  t.equal((await operate('POST', '/operator/webhooks', { url, eventTypes: ['account.verified'] })).status, 201)
  t.match(
    await db.selectFrom('audit_entries').where('action', '=', 'POST /operator/webhooks').select('subject').execute(),
    [{ subject: 'crm.example.com' }]
  )
})
