import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { checkOperatorRoutes, operatorBearer } from '@tandem/operator-kit/testing'
import { testApp } from './test/app.ts'

const { app, db } = await testApp(t)
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
