import { randomUUID } from 'node:crypto'
import t from 'tap'
import { BroadcastSent, PostLiked, type EventDefinition } from '@tandem/contracts'
import { readSample } from '@tandem/contracts/samples'
import { notifyNextChunk } from '../broadcasts/actions.ts'
import { upsertPeople } from '../people/copies.ts'
import { testApp, type TestApp } from '../test/app.ts'
import { notify } from './actions.ts'
import { registry } from './registry.ts'

const { fresh } = await testApp(t)

// Of each event as it was once published: who is told, and what he reads in his inbox and on his phone.
const [ana, ben] = ['01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10', '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e11']
const told: Record<string, { to: string, type: string, title: string, body: string, indonesian: string, from?: string, as?: string, with?: object }> = {
  'social.people.mentioned.v1': {
    to: ben, from: ana, type: 'SOCIAL_FEED', title: 'New mention', body: 'Ana mentioned you in a post: “Morning run with @ben”', indonesian: 'Ana menyebut Anda dalam sebuah postingan: “Morning run with @ben”'
  },
  'social.post.commented.v1': {
    to: ana, from: ben, type: 'SOCIAL_FEED', title: 'New comment', body: 'Ben commented on your post: “Well done”', indonesian: 'Ben mengomentari postingan Anda: “Well done”'
  },
  'social.comment.replied.v1': {
    to: ana, from: ben, type: 'SOCIAL_FEED', title: 'New reply', body: 'Ben replied to your comment', indonesian: 'Ben membalas komentar Anda'
  },
  'social.person.followed.v1': { to: ben, from: ana, type: 'SOCIAL_FEED', title: 'New follower', body: 'Ana follows you now', indonesian: 'Ana kini mengikuti Anda' },
  'social.post.liked.v1': { to: ana, from: ben, type: 'SOCIAL_FEED', title: 'New like', body: 'Ben likes your post', indonesian: 'Ben menyukai postingan Anda' },
  'social.story.reacted.v1': {
    to: ana, from: ben, type: 'STORY_REACTION', title: 'Reaction to your story', body: 'Ben reacted to your story: 🔥', indonesian: 'Ben bereaksi pada cerita Anda: 🔥'
  },
  'fitmatch.message.sent.v1': {
    to: ben, from: ana, as: 'Annie', with: { senderName: 'Annie' }, type: 'CHAT', title: 'Annie', body: 'Annie sent you a message', indonesian: 'Annie mengirim pesan'
  },
  'fitmatch.like.received.v1': { to: ana, type: 'FITMATCH', title: 'Somebody is interested in you', body: 'Someone likes you', indonesian: 'Seseorang menyukai Anda' },
  'fitmatch.match.made.v1': {
    to: ana,
    from: ben,
    as: 'Benny',
    with: { displayNames: ['Annie', 'Benny'] },
    type: 'FITMATCH',
    title: 'It’s a match!',
    body: 'You and Benny can work out together. Say hello!',
    indonesian: 'Anda dan Benny bisa berolahraga bersama. Sapa sekarang!'
  },
  'fitmatch.verification.decided.v1': {
    to: ana, type: 'FITMATCH', title: 'Your photos were not verified', body: 'The face cannot be seen', indonesian: 'The face cannot be seen'
  },
  'fitmatch.report.resolved.v1': {
    to: ana,
    type: 'FITMATCH',
    title: 'Your report was reviewed',
    body: 'Thank you. The profile you reported was taken out of FitMatch.',
    indonesian: 'Terima kasih. Profil yang Anda laporkan telah dikeluarkan dari FitMatch.'
  },
  'fitmatch.suspension.changed.v1': {
    to: ana,
    type: 'ACCOUNT',
    title: 'Your FitMatch profile was suspended',
    body: 'It is not shown to others until our team has reviewed it.',
    indonesian: 'Profil tidak ditampilkan sampai tim kami meninjaunya.'
  },
  'fitmatch.badge.earned.v1': {
    to: ana, type: 'GAMIFICATION', title: 'New badge', body: 'You earned the badge for steady training.', indonesian: 'Anda mendapat lencana latihan konsisten.'
  },
  'dashboard.level.reached.v1': { to: ana, type: 'GAMIFICATION', title: 'Level 3!', body: 'You reached level 3. Keep going!', indonesian: 'Anda mencapai level 3. Teruskan!' },
  'dashboard.record.set.v1': { to: ana, type: 'GAMIFICATION', title: 'New personal record', body: 'Squat: 80 kg, 5 reps', indonesian: 'Squat: 80 kg, 5 repetisi' },
  'dashboard.achievement.earned.v1': {
    to: ana, type: 'GAMIFICATION', title: 'Achievement unlocked', body: 'Your first workout is done. Well begun!', indonesian: 'Latihan pertama Anda selesai. Awal yang baik!'
  },
  'identity.password.changed.v1': {
    to: ana,
    with: { accountId: ana },
    type: 'ACCOUNT',
    title: 'Your password was changed',
    body: 'If that was not you, choose “Forgot password” at once.',
    indonesian: 'Jika itu bukan Anda, segera pilih “Lupa kata sandi”.'
  },
  'identity.session.started.v1': {
    to: ana,
    with: { accountId: ana, sessionId: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e99' },
    type: 'ACCOUNT',
    title: 'New sign-in',
    body: 'Your account was signed in to on Pixel 12. If that was not you, sign it out and change your password.',
    indonesian: 'Akun Anda dibuka di Pixel 12. Jika itu bukan Anda, keluarkan perangkat itu dan ubah kata sandi Anda.'
  },
  'buddy.request.created.v1': {
    to: ben, from: ana, type: 'SPORT_BUDDY', title: 'New sport buddy request', body: 'Ana would like to do a sport with you: running', indonesian: 'Ana ingin berolahraga bersama Anda: running'
  },
  'buddy.request.accepted.v1': {
    to: ana, from: ben, type: 'SPORT_BUDDY', title: 'You have a sport buddy', body: 'Ben accepted your request: running', indonesian: 'Ben menerima permintaan Anda: running'
  },
  'booking.reservation.confirmed.v1': {
    to: ana,
    type: 'BOOKING',
    title: 'Booking confirmed',
    body: 'Badminton, court 2, Saturday, November 21, 2026 at 3:00 PM',
    indonesian: 'Badminton, court 2, Sabtu, 21 November 2026 pukul 15.00'
  },
  'booking.reservation.reminded.v1': {
    to: ana,
    type: 'BOOKING',
    title: 'Do not forget your booking',
    body: 'Badminton, court 2, Saturday, November 21, 2026 at 3:00 PM',
    indonesian: 'Badminton, court 2, Sabtu, 21 November 2026 pukul 15.00'
  },
  'fasting.timer.finished.v1': {
    to: ana, type: 'FASTING', title: 'Your fast is over', body: 'You fasted for 16 hours. Well done!', indonesian: 'Anda berpuasa selama 16 jam. Hebat!'
  },
  'admin.broadcast.sent.v1': { to: ben, type: 'ADMIN', title: 'New classes', body: 'See what is on this week.', indonesian: 'Lihat jadwal minggu ini.' }
}

async function anaAndBen ({ person, device }: TestApp) {
  await person('Ana', { accountId: ana })
  await person('Ben', { accountId: ben })
  return { [ana]: await device(ana), [ben]: await device(ben) }
}

t.test('every event that is heard is told once: in the inbox, and by a push', async (t) => {
  const events: EventDefinition[] = [...registry.map(({ event }) => event), PostLiked, BroadcastSent]
  t.strictSame(events.map(({ type }) => type).sort(), Object.keys(told).sort())
  const app = fresh()
  const tokens = await anaAndBen(app)

  for (const event of events) {
    const expected = told[event.type]!
    await app.db.deleteFrom('notices').execute()
    await app.db.deleteFrom('broadcasts').execute()
    app.provider.sent.length = 0
    const data = { ...await readSample(event) as object, ...expected.with }
    const id = randomUUID()
    await app.say(event.type, data, { id })
    await app.say(event.type, data, { id })
    await notifyNextChunk(app.deps)
    await app.deliverAll()

    const { notifications } = await app.inbox(expected.to)
    const actor = expected.from ? { id: expected.from, name: expected.as ?? (expected.from === ana ? 'Ana' : 'Ben'), image: null } : null
    t.match(notifications, [{ type: expected.type, title: expected.title, body: expected.body, actor, readAt: null }], event.type)
    t.equal(notifications.length, 1, event.type)
    const [inIndonesian] = (await app.send(expected.to, 'GET', '/notifications', undefined, { headers: { 'accept-language': 'id-ID' } })).data.notifications
    t.equal(inIndonesian.body, expected.indonesian)

    const pushed = app.provider.sent.filter((push) => push.token === tokens[expected.to])
    t.match(pushed, [{ title: expected.title, body: expected.body, collapseId: notifications[0].id, data: { notificationId: notifications[0].id, type: expected.type } }], event.type)
    t.equal(pushed.length, 1, event.type)
    const actorIsTold = expected.from && !event.type.startsWith('fitmatch.match.') && (await app.inbox(expected.from)).notifications.length > 0
    t.notOk(actorIsTold, 'who did it is not told')
  }
})

t.test('both are told of a match, each of the other', async (t) => {
  const { say, inbox, person } = fresh()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await say('fitmatch.match.made.v1', { matchId: randomUUID(), accountIds: [ana, ben], displayNames: ['Annie', 'Benny'], matchType: 'LIKE' })
  t.match((await inbox(ana)).notifications, [{ body: 'You and Benny like each other. Say hello!', actor: { id: ben, name: 'Benny', image: null } }])
  t.match((await inbox(ben)).notifications, [{ body: 'You and Annie like each other. Say hello!' }])
})

t.test('nothing of FitMatch tells the name or picture of an account, and a like not even the account', async (t) => {
  const { say, inbox, person, device, deliverAll, provider, log } = fresh()
  const [ana, ben] = [await person('Ana'), await person('Ben Real Name', { image: 'https://cdn.example.com/ben.webp' })]
  await device(ana)
  const [matchId, profileId] = [randomUUID(), randomUUID()]
  for (const names of [{ displayName: 'Benny', profileId }, {}]) {
    const liker = await person('Ben Real Name')
    await say('fitmatch.like.received.v1', { accountId: ana, swipeType: 'LIKE', likedBy: liker, ...names })
    t.notOk(JSON.stringify(await inbox(ana)).includes(liker))
  }
  for (const names of [{ senderName: 'Benny' }, {}]) {
    await say('fitmatch.message.sent.v1', { matchId, messageId: randomUUID(), senderId: ben, recipientId: ana, hasImage: false, ...names })
  }
  for (const names of [{ displayNames: ['Annie', 'Benny'] }, {}]) {
    await say('fitmatch.match.made.v1', { matchId: randomUUID(), accountIds: [ana, ben], matchType: 'LIKE', ...names })
  }
  await deliverAll()
  const { notifications } = await inbox(ana)
  t.match(notifications.map(({ body }: { body: string }) => body).toReversed(), [
    'Benny likes you', 'Someone likes you', 'Benny sent you a message', 'Someone sent you a message',
    'You and Benny like each other. Say hello!', 'You and Someone like each other. Say hello!'
  ])
  t.match(notifications.at(-1), { data: { profileId }, actor: null })
  t.equal(provider.sent.length, 6)
  for (const told of [notifications, provider.sent, await log(ana)]) t.notMatch(JSON.stringify(told), /Real Name|ben\.webp/)
})

t.test('nobody is told of what he did himself', async (t) => {
  const { say, inbox, person } = fresh()
  const ana = await person('Ana')
  const [postId, commentId] = [randomUUID(), randomUUID()]
  await say('social.post.liked.v1', { postId, authorId: ana, likedBy: ana, excerpt: null })
  await say('social.post.commented.v1', { postId, commentId, authorId: ana, commentedBy: ana, excerpt: null })
  await say('social.comment.replied.v1', { postId, commentId, parentId: commentId, parentAuthorId: ana, repliedBy: ana, excerpt: null })
  await say('social.people.mentioned.v1', { postId, commentId, authorId: ana, mentioned: [ana], excerpt: null })
  await say('social.story.reacted.v1', { storyId: postId, authorId: ana, reactedBy: ana, emoji: '🔥' })
  t.match(await inbox(ana), { notifications: [], unreadCount: 0 })
})

t.test('a comment is told once to a person, be he author, replied to and mentioned', async (t) => {
  const { say, inbox, person } = fresh()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const [postId, commentId] = [randomUUID(), randomUUID()]
  await say('social.post.commented.v1', { postId, commentId, authorId: ana, commentedBy: ben, excerpt: null })
  await say('social.people.mentioned.v1', { postId, commentId, authorId: ben, mentioned: [ana], excerpt: null })
  t.match(await inbox(ana), { notifications: [{ title: 'New comment', data: { postId, commentId } }], unreadCount: 1 })
})

t.test('what blocked people do causes nothing, and what they did is gone', async (t) => {
  const { say, inbox, person, device, deliverAll, provider, log } = fresh()
  const [ana, ben, cem] = [await person('Ana'), await person('Ben'), await person('Cem')]
  await device(ana)
  const message = (senderId: string, recipientId = ana) =>
    say('fitmatch.message.sent.v1', { matchId: randomUUID(), messageId: randomUUID(), senderId, senderName: senderId === cem ? 'Cem' : 'Other', recipientId, hasImage: false })
  await message(ben)
  await message(cem)
  t.equal((await inbox(ana)).unreadCount, 2)

  await say('fitmatch.person.blocked.v1', { blockerId: ana, blockedId: ben })
  await message(ben)
  await message(ana, ben)
  t.match(await inbox(ana), { notifications: [{ actor: { id: cem } }], unreadCount: 1 })
  t.match(await inbox(ben), { notifications: [], unreadCount: 0 })

  await deliverAll()
  t.match(provider.sent, [{ title: 'Cem' }], 'nor is what waited pushed')
  t.match((await log(ana)).map((each: { status: string }) => each.status).sort(), ['muted', 'sent'])

  await say('fitmatch.person.unblocked.v1', { blockerId: ana, blockedId: ben })
  await message(ben)
  t.equal((await inbox(ana)).unreadCount, 2)
})

t.test('of a block and its end within one millisecond the later one holds, whichever is heard first', async (t) => {
  const { say, inbox, person } = fresh()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const at = new Date()
  const message = async () => {
    await say('fitmatch.message.sent.v1', { matchId: randomUUID(), messageId: randomUUID(), senderId: ben, recipientId: ana, hasImage: false })
    return (await inbox(ana)).unreadCount
  }
  await say('fitmatch.person.blocked.v1', { blockerId: ana, blockedId: ben }, { at, sequence: 3 })
  await say('fitmatch.person.unblocked.v1', { blockerId: ana, blockedId: ben }, { at, sequence: 2 })
  t.equal(await message(), 0)
  await say('fitmatch.person.unblocked.v1', { blockerId: ana, blockedId: ben }, { at, sequence: 4 })
  t.equal(await message(), 1)
})

t.test('a sign-in is not pushed to the device that signed in, and one from a known device is not told', async (t) => {
  const { say, inbox, person, device, deliverAll, provider, neighbours } = fresh()
  const ana = await person('Ana')
  neighbours.contacts.set(ana, { email: 'ana@example.com', name: 'Ana', locale: 'en' })
  const [phone, tablet] = [randomUUID(), randomUUID()]
  const token = await device(ana, { sessionId: phone })
  await device(ana, { sessionId: tablet })
  const started = { accountId: ana, sessionId: tablet, method: 'PASSWORD', newDevice: true, deviceName: null, platform: 'ios' }
  await say('identity.session.started.v1', started)
  await say('identity.session.started.v1', { ...started, sessionId: phone, newDevice: false })
  await deliverAll()
  t.match((await inbox(ana)).notifications, [{ type: 'ACCOUNT', data: { sessionId: tablet } }])
  t.match(provider.sent.map((push) => push.token), [token])
})

t.test('who is not known here is asked for, and told once he is', async (t) => {
  const { say, inbox, neighbours } = fresh()
  const [ana, ben, nobody] = [randomUUID(), randomUUID(), randomUUID()]
  const follow = { followerId: ben, followedId: ana }
  neighbours.isUnavailable = true
  await t.rejects(say('social.person.followed.v1', follow), { code: 'SERVICE_UNAVAILABLE' }, 'it is tried again later')
  neighbours.isUnavailable = false
  neighbours.people.set(ana, { accountId: ana, name: 'Ana', image: null, locale: 'id', timezone: 'Asia/Jakarta' })
  neighbours.people.set(ben, { accountId: ben, name: 'Ben', image: 'https://cdn.example.com/ben.webp', locale: 'en', timezone: 'UTC' })
  await say('social.person.followed.v1', follow)
  t.match((await inbox(ana)).notifications, [{ body: 'Ben kini mengikuti Anda', actor: { id: ben, name: 'Ben', image: 'https://cdn.example.com/ben.webp' } }])

  await say('social.person.followed.v1', { followerId: nobody, followedId: ana })
  t.match((await inbox(ana)).notifications, [{ body: 'Seseorang kini mengikuti Anda', actor: null }, {}])
  await say('social.person.followed.v1', { followerId: ana, followedId: nobody })
  t.strictSame((await inbox(nobody)).notifications, [], 'an account that does not exist is told nothing')
})

t.test('a crowd of events at once is told each once, and one that cannot be told now is no reason to fail for the others', async (t) => {
  const { say, person, device, inbox, pushes, neighbours } = fresh()
  const [ana, ben, stranger] = [await person('Ana'), await person('Ben'), randomUUID()]
  await device(ana)
  await device(ben)
  neighbours.isUnavailable = true
  const message = (senderId: string, recipientId: string) => ({ matchId: randomUUID(), messageId: randomUUID(), senderId, recipientId, hasImage: false })
  const messages = Array.from({ length: 30 }, (_, number) => number % 3 === 0 ? message(ben, ana) : message(ana, ben))
  const crowd = [...messages, ...messages.slice(0, 10), message(stranger, ana), ...messages.slice(20)]
  const outcomes = await Promise.allSettled(crowd.map(async (data) => await say('fitmatch.message.sent.v1', data)))
  t.strictSame(outcomes.flatMap(({ status }, number) => status === 'rejected' ? [number] : []), [40])
  const [ofAna, ofBen] = [await inbox(ana, '?limit=50'), await inbox(ben, '?limit=50')]
  t.strictSame([ofAna.notifications.length, ofAna.unreadCount, ofBen.notifications.length, ofBen.unreadCount], [10, 10, 20, 20])
  t.equal(new Set(pushes.offered.map(({ id }) => id)).size, 30)
})

t.test('a notice shows people as they are called now, and news of them that come late change nothing', async (t) => {
  const { say, inbox, person, deps } = fresh()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await say('social.person.followed.v1', { followerId: ben, followedId: ana })
  await say('profile.person.changed.v1', { accountId: ben, name: 'Benny', username: 'ben', image: null, bio: null, locale: 'en', timezone: 'UTC' })
  t.match((await inbox(ana)).notifications, [{ body: 'Benny follows you now', actor: { name: 'Benny' } }])
  await upsertPeople(deps.db, [{ accountId: ben, name: 'Old', image: null, locale: 'en', timezone: 'UTC' }], new Date(Date.now() - 60_000))
  t.match((await inbox(ana)).notifications, [{ body: 'Benny follows you now' }])
})

t.test('an event told again after a crash offers the pushes that still wait', async (t) => {
  const { say, person, device, pushes, deliverAll, provider } = fresh()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await device(ana)
  const event = { matchId: randomUUID(), messageId: randomUUID(), senderId: ben, recipientId: ana, hasImage: false }
  await say('fitmatch.message.sent.v1', event)
  const [lost] = pushes.offered.splice(0)
  await say('fitmatch.message.sent.v1', event)
  t.match(pushes.offered, [{ id: lost?.id }])
  await deliverAll()
  await say('fitmatch.message.sent.v1', event)
  t.strictSame(pushes.offered, [])
  t.equal(provider.sent.length, 1)
})

t.test('an event that is heard a day too late is in the inbox, and wakes nobody', async (t) => {
  const { deps, person, device, inbox, log } = fresh()
  const ana = await person('Ana')
  await device(ana)
  await notify(deps, { kind: 'levelReached', cause: 'level:2', to: [ana], params: { level: 2 } }, new Date(Date.now() - 25 * 60 * 60 * 1_000))
  t.match(await inbox(ana), { unreadCount: 1 })
  t.match(await log(ana), [{ status: 'muted', reason: 'heard of a day too late' }])
})
