import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import { readCredential } from '@tandem/google-kit'
import { endsWithin } from '@tandem/test-kit'
import { FCM_CREDENTIAL, createFcm, parseRetryAfter, toFcmMessage, truncate } from './fcm.ts'
import type { Push } from './provider.ts'
import { startFakeFcm, type Fault } from '../test/fake-fcm.ts'

const push: Push = {
  token: 'dK3x:APA91',
  platform: 'android',
  collapseId: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e20',
  title: 'Ana',
  body: 'Ana sent you a message',
  data: { type: 'CHAT', matchId: 'm' },
  badge: 3,
  urgent: true,
  silent: false
}

async function fcm (t: Test) {
  const google = await startFakeFcm()
  t.teardown(() => google.close())
  const provider = createFcm({ baseUrl: google.url, credential: await readCredential(google.file, FCM_CREDENTIAL) })
  t.teardown(() => provider.close())
  return { google, provider, answer: (fault: Fault) => google.respondWith(() => fault) }
}

t.test('a push is authenticated and in FCM’s shape, with its collapse id for both platforms', async (t) => {
  const { google, provider } = await fcm(t)
  t.strictSame(await provider.send(push), { type: 'sent' })
  t.match(google.sentTo(push.token), [{
    token: push.token,
    notification: { title: 'Ana', body: 'Ana sent you a message' },
    data: { type: 'CHAT', matchId: 'm' },
    android: { collapse_key: push.collapseId, priority: 'HIGH', ttl: '86400s', notification: { tag: push.collapseId } },
    apns: {
      headers: { 'apns-collapse-id': push.collapseId, 'apns-priority': '10', 'apns-push-type': 'alert' },
      payload: { aps: { sound: 'default', badge: 3 } }
    }
  }])
  t.match(toFcmMessage({ ...push, urgent: false }), {
    android: { priority: 'NORMAL' },
    apns: { headers: { 'apns-priority': '5' } }
  })
})

t.test('many pushes share one access token', async (t) => {
  const { google, provider } = await fcm(t)
  await Promise.all(Array.from({ length: 50 }, () => provider.send(push)))
  t.equal(google.seen.length, 50)
  t.equal(google.exchanges(), 1)
})

t.test('an access token that Google rejects is renewed once, however many pushes it fails', async (t) => {
  const { google, provider } = await fcm(t)
  await provider.send(push)
  google.revoke()
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => provider.send(push)))
  t.ok(outcomes.every((outcome) => outcome.type === 'sent'))
  t.ok(google.exchanges() <= 3, `${google.exchanges()} exchanges`)

  google.respondWith(() => ({ status: 401, code: 'UNAUTHENTICATED' }))
  const before = google.seen.length
  t.match(await provider.send(push), { type: 'later', reason: '401 UNAUTHENTICATED' })
  t.equal(google.seen.length - before, 2, 'a second rejection is retried later')
})

t.test('a dead token is distinguished from a push to retry and from one that can never be sent', async (t) => {
  const { provider, answer } = await fcm(t)
  const outcome = async (fault: Fault) => {
    answer(fault)
    return await provider.send(push)
  }
  t.strictSame(await outcome({ status: 404, code: 'UNREGISTERED' }), { type: 'dead', reason: '404 UNREGISTERED' })
  t.strictSame(await outcome({ status: 400, code: 'INVALID_ARGUMENT' }), {
    type: 'dead',
    reason: '400 INVALID_ARGUMENT'
  })
  t.strictSame(await outcome({ status: 400, code: 'INVALID_ARGUMENT', field: 'message.token' }), {
    type: 'dead',
    reason: '400 INVALID_ARGUMENT'
  })
  t.strictSame(await outcome({ status: 403, code: 'SENDER_ID_MISMATCH' }), {
    type: 'dead',
    reason: '403 SENDER_ID_MISMATCH'
  })
  t.strictSame(await outcome({ status: 400, code: 'INVALID_ARGUMENT', field: 'message.data' }), {
    type: 'refused',
    reason: '400 INVALID_ARGUMENT message.data'
  })
  t.strictSame(await outcome({ status: 429, code: 'QUOTA_EXCEEDED', retryAfter: 5 }), {
    type: 'later',
    reason: '429 QUOTA_EXCEEDED',
    retryAfterMs: 5_000
  })
  t.strictSame(await outcome({ status: 503, code: 'UNAVAILABLE' }), { type: 'later', reason: '503 UNAVAILABLE' })
  t.strictSame(await outcome({ status: 500, code: 'INTERNAL' }), { type: 'later', reason: '500 INTERNAL' })
  t.strictSame(
    await outcome({ status: 404, code: 'NOT_FOUND' }),
    { type: 'later', reason: '404 NOT_FOUND' },
    'the project may be wrong, not the token'
  )
})

t.test('a timeout after ten seconds and a refused connection are retried later', async (t) => {
  const { google, provider, answer } = await fcm(t)
  answer('silence')
  const sent = provider.send(push)
  t.ok(await endsWithin(11_500, sent))
  t.match(await sent, { type: 'later', reason: /no answer within 10 s|UND_ERR/ })
  await google.close()
  t.match(await provider.send(push), { type: 'later', reason: 'ECONNREFUSED' })
})

t.test('Retry-After is in seconds or a date', (t) => {
  t.equal(parseRetryAfter('5'), 5_000)
  t.equal(parseRetryAfter(['7', '9']), 7_000)
  t.equal(parseRetryAfter('Sat, 21 Nov 2026 00:00:10 GMT', Date.parse('2026-11-21T00:00:00Z')), 10_000)
  t.equal(parseRetryAfter('Sat, 21 Nov 2026 00:00:10 GMT', Date.parse('2026-11-22T00:00:00Z')), 0)
  t.equal(parseRetryAfter('soon'), undefined)
  t.equal(parseRetryAfter(undefined), undefined)
  t.end()
})

t.test('the longest text fits into a message, truncated between characters', async (t) => {
  const { provider } = await fcm(t)
  const family = '👨‍👩‍👧‍👦'
  t.strictSame(await provider.send({ ...push, title: family.repeat(500), body: family.repeat(2_000) }), {
    type: 'sent'
  })
  t.equal(truncate('short', 5), 'short')
  t.equal(truncate('longer', 5), 'lo…')
  t.equal(truncate(family.repeat(3), 60), `${family}${family}…`)
})

t.test('a file that is not a service account fails at startup', async (t) => {
  const file = path.join(t.testdir(), 'account.json')
  await writeFile(file, '{"type": "service_account"}')
  await t.rejects(readCredential(file, FCM_CREDENTIAL), { name: 'ConfigError', message: /it is not a service account/ })
  await t.rejects(readCredential(path.join(tmpdir(), 'there-is-none.json'), FCM_CREDENTIAL), { name: 'ConfigError' })
})
