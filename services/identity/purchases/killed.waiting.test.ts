// It kills the service and waits for leases to end.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import t from 'tap'
import { recordedEvents } from '@tandem/bus-kit/testing'
import { testDatabase } from '@tandem/database-kit/testing'
import { createRootKey } from '@tandem/http-kit/testing'
import { seededRandom, startMail, startNats, startProcess, startRedis, until } from '@tandem/test-kit'
import { startStores } from '../test/stores.ts'
import type { Tables } from '../tables.ts'

const ACCOUNTS = 30
const KILLS = 6

t.test('a service killed at any moment loses no purchase, doubles none, and acknowledges each', async (t) => {
  const random = seededRandom(t)
  const [{ db, url }, redis, nats, mail, stores] = await Promise.all([
    testDatabase<Tables>(t, path.dirname(import.meta.dirname)),
    startRedis(t),
    startNats(t),
    startMail(t),
    startStores(t, { clock: () => new Date() })
  ])
  const { appStore, play, variables } = stores
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-killed-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const rootKey = createRootKey()
  const env = {
    ...variables,
    DATABASE_URL: url,
    NATS_URL: nats.url,
    REDIS_URL: redis.url,
    SMTP_URL: mail.smtpUrl,
    PUBLIC_URL: 'https://tandem.example',
    CDN_URL: 'https://cdn.example',
    SECRET: randomUUID(),
    IDENTITY_ROOT_PRIVATE_KEY: rootKey.privateText,
    IDENTITY_ROOT_PUBLIC_KEYS: rootKey.publicText,
    MEDIA_DIR: path.join(folder, 'media'),
    LEDGER_DIR: path.join(folder, 'ledger'),
    LOG_LEVEL: 'debug'
  }
  const accounts = await db.insertInto('accounts')
    .values(Array.from({ length: ACCOUNTS }, () => ({
      email: `ana-${randomUUID()}@example.com`,
      name: 'Ana',
      image: null,
      locale: 'en',
      password_hash: null,
      email_verified_at: new Date(),
      registered_network: '203.0.113.0/24',
      referral_code: randomUUID(),
      banned_at: null,
      person_changed_at: null
    })))
    .returning(['id', 'account_token', 'email']).execute()
  const bought = accounts.map(({ account_token }, index) => {
    const accountToken = account_token!
    return index % 2 === 0
      ? { token: play.buy({ productId: 'premium', accountToken }), id: '' }
      : { token: '', id: appStore.buy({ productId: 'premium.monthly', accountToken }) }
  })

  const service = await startProcess(t, 'services/identity/main.ts', env, { until: 'live' })
  /** Sends a notification until it is accepted, as the stores do. */
  async function notify ({ token, id }: typeof bought[number]) {
    const { headers = {}, body } = token
      ? await play.createPush({ subscriptionNotification: { purchaseToken: token } })
      : { body: { signedPayload: await appStore.signNotification(id) } }
    const request = {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body)
    }
    await until(async () => {
      const address = `http://127.0.0.1:${service.port}/webhooks/${token ? 'google-play' : 'app-store'}`
      return await fetch(address, request).then(({ status }) => status === 200, () => false)
    })
  }
  const sending = Promise.all(bought.map(async (each) => {
    await sleep(random() * 8_000)
    await notify(each)
  }))
  const expire = setInterval(() => {
    // A killed worker keeps its claim for up to a minute, and after a minute a row is taken for forgotten: the test does
    // not wait for that.
    void sql`update purchases set check_at = now() where check_at > now() and check_at < now() + interval '50 seconds'`
      .execute(db).catch(() => {})
    void sql`
      update store_notifications set received_at = received_at - interval '1 minute', claimed_until = now()
      where done_at is null and received_at < now() - interval '5 seconds'`.execute(db).catch(() => {})
    void sql`
      update mails set created_at = created_at - interval '1 minute',
        claimed_until = case when status = 'sending' then now() end
      where status in ('pending', 'sending') and created_at < now() - interval '5 seconds'`.execute(db).catch(() => {})
  }, 2_000)
  t.teardown(() => clearInterval(expire))

  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(random() * 1_500)
    if (service.pid !== undefined) process.kill(service.pid, 'SIGKILL')
    await service.stop()
    if (kill % 2 === 0) await Promise.all([redis.wipe(), nats.wipe()])
    await service.start()
  }
  await sending
  await until(async () => {
    const { rows: [left] } = await sql<{ count: number }>`
      select count(*)::int as count from purchases where state = 'ACTIVE' and not needs_acknowledgement`.execute(db)
    return left?.count === ACCOUNTS
  })

  const subscriptions = await db.selectFrom('subscriptions').where('status', '=', 'ACTIVE').select('account_id')
    .execute()
  t.equal(subscriptions.length, ACCOUNTS, 'nothing is lost')
  const events = (await recordedEvents(db)).filter(({ type }) => type === 'identity.subscription.changed.v1')
  t.equal(events.length, ACCOUNTS, 'nothing is doubled')
  t.equal(new Set(play.state.acknowledged).size, ACCOUNTS / 2, 'each is acknowledged')
  /** How many mails. A mail whose worker was killed is sent again under its Message-ID, by which mailboxes drop it. */
  const begun = (email: string) =>
    new Set(mail.mails(email).filter(({ subject }) => /has begun/.test(subject)).map(({ messageId }) => messageId)).size
  await until(() => accounts.every(({ email }) => begun(email) >= 1))
  t.same(accounts.map(({ email }) => begun(email)).filter((count) => count !== 1), [], 'each owner gets one mail')

  const secrets = [
    ...bought.map(({ token, id }) => token || id),
    ...bought.filter(({ token }) => token).map(({ token }) => play.find(token).orderId)
  ]
  const log = await service.readLog()
  const published = JSON.stringify(await recordedEvents(db))
  t.ok(log.length > 0)
  t.same(secrets.filter((secret) => log.includes(secret)), [], 'no log has a token, an order or a transaction')
  t.same(secrets.filter((secret) => published.includes(secret)), [], 'and no event')
  t.notMatch(log, /eyJhbGciOi/, 'and no log a payload')
})
