import { randomUUID } from 'node:crypto'
import t from 'tap'
import { checkErasure, checkExport, checkIndexes, checkSchema, type Seed } from '@tandem/account-kit/testing'
import { personalData } from '../personal-data.ts'
import { testApp } from '../test/app.ts'

const { db, deps: { erasure }, person, receive, inbox } = await testApp(t)

t.test('every table of the live schema is declared', async (t) => await checkSchema(t, { db, personalData }))

t.test('an erasure reads no table as a whole', async (t) => await checkIndexes(t, { db, personalData }))

const seed: Seed = async ({ accountId: account_id, otherId, insert }) => {
  await insert('inboxes', { account_id })
  await insert('inboxes', { account_id: otherId })
  const type = 'SOCIAL_FEED'
  const own = await insert('notifications', { account_id, type, listed: true })
  const data = JSON.stringify({ profileId: otherId })
  await insert('notifications', { account_id, kind: 'likeReceived', type: 'FITMATCH', listed: true, data })
  const theirs = await insert('notifications', { account_id: otherId, actor_id: account_id, type, listed: true })
  const delivery = { platform: 'ios', status: 'sent' }
  await insert('deliveries', { account_id, notification_id: own['id'], ...delivery })
  await insert('deliveries', { account_id: otherId, notification_id: theirs['id'], ...delivery })
  await insert('devices', { account_id, platform: 'ios' })
  await insert('preferences', { account_id })
  await insert('post_likes', { liked_by: account_id })
  await insert('withdrawals', { account_id, actor_id: otherId })
  await insert('withdrawals', { account_id: otherId, actor_id: account_id })
  await insert('blocks', { blocker_id: otherId, blocked_id: account_id })
  for (const table of ['people', 'idempotency_keys', 'daily_quotas', 'hidden_people', 'realtime_frames']) {
    await insert(table, { account_id })
  }
  const contact = await insert('trusted_contacts', { account_id, email: 'mum@example.com' })
  await insert('trusted_contact_links', { contact_id: contact['id'], token_digest: Buffer.from('digest') })
  await insert('trusted_contact_refusals', { account_id, address_digest: Buffer.from('digest') })
  await insert('mails', { account_id, subject: 'a', body_text: 'b', body_html: 'c' })
  await insert('webhook_messages', { account_id, type: 'account.verified' })
  await insert('failed_messages', { message: account_id })
}

t.test('an erasure leaves nothing of an account, and counts what it erased', async (t) => {
  await checkErasure(t, { db, erasure, personalData, seed })
})

t.test('the copy of a person has every table with their data, and nothing of anybody else', async (t) => {
  await checkExport(t, { db, erasure, personalData, seed, mayNameOther: [] })
})

t.test('what a person did leaves the inboxes of others, whose unread counts and digests are exact', async (t) => {
  const [ana, ben, cleo] = [await person('Ana'), await person('Ben'), await person('Cleo')]
  const postId = randomUUID()
  for (const liker of [ben, cleo, ana]) {
    await receive('social.post.liked.v1', { postId, authorId: ben, likedBy: liker, excerpt: null })
  }
  await receive('social.person.followed.v1', { followerId: ana, followedId: ben })
  t.match(await inbox(ben), { unreadCount: 2, notifications: { length: 2 } })
  await db.insertInto('departures').values({ account_id: ana, erasure_id: randomUUID() }).execute()
  await erasure.eraseDue()
  const after = await inbox(ben)
  t.match(after, { unreadCount: 1, notifications: [{ actor: { id: cleo } }] })
  t.equal(after.notifications.length, 1)
  t.notMatch(JSON.stringify(after), ana)
})

t.test('an activity that ends with its participant leaves no row of them behind', async (t) => {
  const [ana, ben, activityId] = [await person('Ana'), await person('Ben'), randomUUID()]
  await db.insertInto('departures').values({ account_id: ana, erasure_id: randomUUID() }).execute()
  await erasure.eraseDue()
  await receive('fitmatch.activity.canceled.v1', {
    activityId,
    sport: 'running',
    startsAt: '2026-11-28T11:00:00.000Z',
    timezone: 'Asia/Jakarta',
    accountIds: [ana, ben],
    reason: 'PLACE_ENDED',
    notifiedIds: []
  })
  const withdrawn = await db.selectFrom('withdrawals').select(['account_id', 'actor_id']).execute()
  t.match(JSON.stringify(withdrawn), ben)
  t.notMatch(JSON.stringify(withdrawn), ana)
  t.same((await erasure.verify(ana)).left, {})
})
