import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { BroadcastSent, PostLiked, type EventDefinition } from '@tandem/contracts'
import { readSample } from '@tandem/contracts/samples'
import { createMediaUrls } from '@tandem/media-url-kit'
import { notifyNextChunk } from '../broadcasts/actions.ts'
import { readInbox } from '../inbox/queries.ts'
import { upsertPeople } from '../people/copies.ts'
import { notify, testApp, type TestApp } from '../test/app.ts'
import { renderText } from '../texts/texts.ts'
import { typeOf, usesDisplayName } from '../texts/kinds.ts'
import { notify as notifyWithin } from './notify.ts'
import { findRecipients } from './recipients.ts'
import { messageKey, registry } from './registry.ts'

const { reset } = await testApp(t)

// For an event, in the committed sample: who is notified, and the text in the inbox and in the push. Of an event that is
// not listed, what its entry in the registry requests is expected.
const [ana, ben] = ['01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10', '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e11']
const [anasProfile, bensProfile] = ['01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9eaa', '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9ebb']
interface Expectation {
  to: string
  type: string
  title: string
  body: string
  indonesian: string
  from?: string
  as?: string
  /** Of `from`, in FitMatch. */
  profile?: string
  with?: object
}
const expectations: Record<string, Expectation> = {
  'social.people.mentioned.v1': {
    to: ben,
    from: ana,
    type: 'SOCIAL_FEED',
    title: 'New mention',
    body: 'Ana mentioned you in a post: “Morning run with @ben”',
    indonesian: 'Ana menyebut Anda dalam sebuah postingan: “Morning run with @ben”'
  },
  'social.post.commented.v1': {
    to: ana,
    from: ben,
    type: 'SOCIAL_FEED',
    title: 'New comment',
    body: 'Ben commented on your post: “Well done”',
    indonesian: 'Ben mengomentari postingan Anda: “Well done”'
  },
  'social.comment.replied.v1': {
    to: ana,
    from: ben,
    type: 'SOCIAL_FEED',
    title: 'New reply',
    body: 'Ben replied to your comment',
    indonesian: 'Ben membalas komentar Anda'
  },
  'social.person.followed.v1': {
    to: ben,
    from: ana,
    type: 'SOCIAL_FEED',
    title: 'New follower',
    body: 'Ana started following you',
    indonesian: 'Ana kini mengikuti Anda'
  },
  'social.post.liked.v1': {
    to: ana,
    from: ben,
    type: 'SOCIAL_FEED',
    title: 'New like',
    body: 'Ben likes your post',
    indonesian: 'Ben menyukai postingan Anda'
  },
  'social.story.reacted.v1': {
    to: ana,
    from: ben,
    type: 'STORY_REACTION',
    title: 'Reaction to your story',
    body: 'Ben reacted to your story: 🔥',
    indonesian: 'Ben bereaksi pada cerita Anda: 🔥'
  },
  'fitmatch.message.sent.v1': {
    to: ben,
    from: ana,
    as: 'Annie',
    profile: anasProfile,
    with: { senderName: 'Annie', senderProfileId: anasProfile },
    type: 'CHAT',
    title: 'Annie',
    body: 'Annie sent you a message',
    indonesian: 'Annie mengirim pesan'
  },
  'fitmatch.like.received.v1': {
    to: ana,
    type: 'FITMATCH',
    title: 'Someone is interested in you',
    body: 'Someone likes you',
    indonesian: 'Seseorang menyukai Anda'
  },
  'fitmatch.match.made.v1': {
    to: ana,
    from: ben,
    as: 'Benny',
    profile: bensProfile,
    with: { displayNames: ['Annie', 'Benny'], profileIds: [anasProfile, bensProfile] },
    type: 'FITMATCH',
    title: 'It’s a match!',
    body: 'You and Benny can work out together. Say hello!',
    indonesian: 'Anda dan Benny bisa berolahraga bersama. Sapa sekarang!'
  },
  'fitmatch.verification.decided.v1': {
    to: ana,
    type: 'FITMATCH',
    title: 'Your photos were not verified',
    body: 'The face cannot be seen',
    indonesian: 'The face cannot be seen'
  },
  'fitmatch.report.resolved.v1': {
    to: ana,
    type: 'FITMATCH',
    title: 'Your report was reviewed',
    body: 'Thank you. The profile you reported was removed from FitMatch.',
    indonesian: 'Terima kasih. Profil yang Anda laporkan telah dikeluarkan dari FitMatch.'
  },
  'fitmatch.suspension.changed.v1': {
    to: ana,
    type: 'ACCOUNT',
    title: 'Your FitMatch profile was suspended',
    body: 'Other people cannot see it until our team has reviewed it.',
    indonesian: 'Profil tidak ditampilkan sampai tim kami meninjaunya.'
  },
  'identity.decision.made.v1': {
    to: ana,
    with: { accountId: ana, actions: [{ type: 'WARN', scope: null, until: null, photoId: null }] },
    type: 'ACCOUNT',
    title: 'A decision about your account',
    body: 'You received a warning. Open the standing of your account to read why, and to appeal.',
    indonesian: 'Anda menerima peringatan. Buka status akun Anda untuk membaca alasannya dan mengajukan banding.'
  },
  'fitmatch.badge.earned.v1': {
    to: ana,
    type: 'GAMIFICATION',
    title: 'New badge',
    body: 'You earned the badge for steady training.',
    indonesian: 'Anda mendapat lencana latihan konsisten.'
  },
  'dashboard.level.reached.v1': {
    to: ana,
    type: 'GAMIFICATION',
    title: 'Level 3!',
    body: 'You reached level 3. Keep going!',
    indonesian: 'Anda mencapai level 3. Teruskan!'
  },
  'dashboard.record.set.v1': {
    to: ana,
    type: 'GAMIFICATION',
    title: 'New personal record',
    body: 'Squat: 80 kg, 5 reps',
    indonesian: 'Squat: 80 kg, 5 repetisi'
  },
  'dashboard.achievement.earned.v1': {
    to: ana,
    type: 'GAMIFICATION',
    title: 'Achievement unlocked',
    body: 'You completed your first workout. Great start!',
    indonesian: 'Latihan pertama Anda selesai. Awal yang baik!'
  },
  'identity.password.changed.v1': {
    to: ana,
    with: { accountId: ana },
    type: 'ACCOUNT',
    title: 'Your password was changed',
    body: 'If this was not you, choose “Forgot password” immediately.',
    indonesian: 'Jika itu bukan Anda, segera pilih “Lupa kata sandi”.'
  },
  'identity.session.started.v1': {
    to: ana,
    with: { accountId: ana, sessionId: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e99' },
    type: 'ACCOUNT',
    title: 'New sign-in',
    body: 'Your account was used to sign in on Pixel 12. ' +
      'If this was not you, sign out that device and change your password.',
    indonesian: 'Akun Anda dibuka di Pixel 12. Jika itu bukan Anda, keluarkan perangkat itu dan ubah kata sandi Anda.'
  },
  'buddy.request.created.v1': {
    to: ben,
    from: ana,
    type: 'SPORT_BUDDY',
    title: 'New sport buddy request',
    body: 'Ana wants to do a sport with you: running',
    indonesian: 'Ana ingin berolahraga bersama Anda: running'
  },
  'buddy.request.accepted.v1': {
    to: ana,
    from: ben,
    type: 'SPORT_BUDDY',
    title: 'You have a sport buddy',
    body: 'Ben accepted your request: running',
    indonesian: 'Ben menerima permintaan Anda: running'
  },
  'fitmatch.meeting.asked.v1': {
    to: ana,
    type: 'ACCOUNT',
    title: 'Are you safe?',
    body: 'Report back in the app. Otherwise your trusted contact gets an email. Tandem is no emergency service.',
    indonesian:
      'Beri kabar di aplikasi. Jika tidak, kontak tepercaya Anda menerima email. Tandem bukan layanan darurat.'
  },
  'fitmatch.meeting.told.v1': {
    to: ana,
    type: 'ACCOUNT',
    title: 'Your trusted contact was notified',
    body: 'You have not reported back after your activity. Once you do, they get the all-clear. ' +
      'Tandem is no emergency service.',
    indonesian: 'Anda belum memberi kabar setelah kegiatan Anda. Begitu Anda memberi kabar, mereka ikut diberi tahu. ' +
      'Tandem bukan layanan darurat.'
  },
  'fitmatch.meeting.not-told.v1': {
    to: ana,
    type: 'ACCOUNT',
    title: 'Your trusted contact was not notified',
    body: 'You have not reported back, and we could not email your trusted contact. Nobody has been notified. ' +
      'Tandem is no emergency service.',
    indonesian:
      'Anda belum memberi kabar, dan email kami kepada kontak tepercaya Anda gagal. Belum ada yang diberi tahu. ' +
      'Tandem bukan layanan darurat.'
  },
  'fitmatch.meeting.disarmed.v1': {
    to: ana,
    type: 'ACCOUNT',
    title: 'Your safety check has ended',
    body: 'You have no trusted contact who has agreed. Nobody is notified if you do not report back.',
    indonesian: 'Anda tidak memiliki kontak tepercaya yang setuju. ' +
      'Tidak ada yang diberi tahu jika Anda tidak memberi kabar.'
  },
  'fitmatch.buddy.requested.v1': {
    to: ben,
    from: ana,
    type: 'SPORT_BUDDY',
    title: 'New sport buddy request',
    body: 'Ana wants to do a sport with you: badminton',
    indonesian: 'Ana ingin berolahraga bersama Anda: badminton'
  },
  'fitmatch.buddy.accepted.v1': {
    to: ana,
    from: ben,
    type: 'SPORT_BUDDY',
    title: 'You have a sport buddy',
    body: 'Ben accepted your request: badminton',
    indonesian: 'Ben menerima permintaan Anda: badminton'
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
    title: 'Booking reminder',
    body: 'Badminton, court 2, Saturday, November 21, 2026 at 3:00 PM',
    indonesian: 'Badminton, court 2, Sabtu, 21 November 2026 pukul 15.00'
  },
  'fitmatch.activity.invited.v1': {
    to: ben,
    from: ana,
    as: 'Annie',
    profile: anasProfile,
    with: { displayName: 'Annie', profileId: anasProfile },
    type: 'SPORT_BUDDY',
    title: 'Train together?',
    body: 'Annie invites you: running, Saturday, November 28, 2026 at 6:00 PM',
    indonesian: 'Annie mengajak Anda: running, Sabtu, 28 November 2026 pukul 18.00'
  },
  'fitmatch.activity.changed.v1': {
    to: ben,
    from: ana,
    as: 'Annie',
    profile: anasProfile,
    with: { displayName: 'Annie', profileId: anasProfile, timezone: 'America/New_York' },
    type: 'BOOKING',
    title: 'Plan changed',
    body: 'Annie changed a plan: running, Saturday, November 28, 2026 at 6:00 AM. Please answer again.',
    indonesian: 'Annie mengubah rencana: running, Sabtu, 28 November 2026 pukul 06.00. Mohon jawab lagi.'
  },
  'fitmatch.activity.canceled.v1': {
    to: ben,
    type: 'BOOKING',
    title: 'Plan canceled',
    body: 'running, Saturday, November 28, 2026 at 6:00 PM',
    indonesian: 'running, Sabtu, 28 November 2026 pukul 18.00'
  },
  'fitmatch.activity.reminded.v1': {
    to: ana,
    type: 'BOOKING',
    with: { startsAt: new Date(Date.now() + 24 * 60 * 60_000).toISOString() },
    title: 'Starts in 24 hours',
    body: 'running, ',
    indonesian: 'running, '
  },
  'fasting.timer.finished.v1': {
    to: ana,
    type: 'FASTING',
    title: 'Your fast is over',
    body: 'You fasted for 16 hours. Well done!',
    indonesian: 'Anda berpuasa selama 16 jam. Hebat!'
  },
  'dashboard.fast.finished.v1': {
    to: ana,
    type: 'FASTING',
    title: 'Fasting goal reached',
    body: 'Your fast has reached 16 hours. It runs until you end it.',
    indonesian: 'Puasa Anda sudah mencapai 16 jam. Puasa berjalan sampai Anda mengakhirinya.'
  },
  'admin.broadcast.sent.v1': {
    to: ben,
    type: 'ADMIN',
    title: 'New classes',
    body: 'See what is on this week.',
    indonesian: 'Lihat jadwal minggu ini.'
  }
}

async function anaAndBen ({ person, device }: TestApp) {
  await person('Ana', { accountId: ana })
  await person('Ben', { accountId: ben })
  return { [ana]: await device(ana), [ben]: await device(ben) }
}

/** What the registry requests for the sample of an event, with its text. */
async function readExpectation (event: EventDefinition): Promise<Expectation> {
  const entry = registry.find((each) => each.event === event)!
  // Of the two people of the tests, the one who acts is the other.
  const sample = JSON.stringify(await readSample(event))
  const [request] = entry.requests(JSON.parse(sample) as never, randomUUID())
  const { kind, to: [to], actorId, params = {} } = request!
  const roles = new Map([[to, ana], [actorId, ben]])
  const data = JSON.parse(sample.replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, (id) => roles.get(id) ?? id)) as object
  const source = { kind, actorName: actorId ? 'Ben' : null, othersCount: 0, params }
  const [inEnglish, inIndonesian] = (['en', 'id'] as const).map((language) =>
    renderText(source, language, 'Asia/Jakarta')
  )
  for (const { title, body } of [inEnglish!, inIndonesian!]) t.notMatch(`${title} ${body}`, /[{}]|undefined|null/)
  return {
    to: ana,
    ...actorId && { from: ben },
    ...usesDisplayName(kind)
      ? { as: 'Ben', profile: bensProfile, with: { ...data, profileId: bensProfile } }
      : { with: data },
    type: typeOf(kind),
    ...inEnglish!,
    indonesian: inIndonesian!.body
  }
}

t.test('every consumed event creates one notification and one push', async (t) => {
  const events: EventDefinition[] = [...registry.map(({ event }) => event), PostLiked, BroadcastSent]
  t.same(Object.keys(expectations).filter((type) => !events.some((event) => event.type === type)), [])
  const app = reset()
  const tokens = await anaAndBen(app)

  for (const event of events) {
    const expected = expectations[event.type] ?? await readExpectation(event)
    await app.db.deleteFrom('notifications').execute()
    await app.db.deleteFrom('withdrawals').execute()
    await app.db.deleteFrom('broadcasts').execute()
    app.provider.sent.length = 0
    const data = { ...await readSample(event) as object, ...expected.with }
    const id = randomUUID()
    await app.receive(event.type, data, { id })
    await app.receive(event.type, data, { id })
    await notifyNextChunk(app.deps)
    await app.deliverAll()

    const { notifications } = await app.inbox(expected.to)
    const actor = expected.from
      ? {
        id: expected.profile ?? expected.from,
        name: expected.as ?? (expected.from === ana ? 'Ana' : 'Ben'),
        image: null
      }
      : null
    t.match(
      notifications,
      [{ type: expected.type, title: expected.title, body: expected.body, actor, readAt: null }],
      event.type
    )
    t.equal(notifications.length, 1, event.type)
    const [inIndonesian] =
      (await app.send(expected.to, 'GET', '/notifications', undefined, { headers: { 'accept-language': 'id-ID' } }))
        .data.notifications
    t.match(inIndonesian.body, expected.indonesian)

    const pushed = app.provider.sent.filter((push) => push.token === tokens[expected.to])
    t.match(pushed, [{
      title: expected.title,
      body: expected.body,
      collapseId: notifications[0].id,
      data: { notificationId: notifications[0].id, type: expected.type }
    }], event.type)
    t.equal(pushed.length, 1, event.type)
    if (expected.profile !== undefined) {
      t.notOk(JSON.stringify([notifications, pushed]).includes(expected.from!), `${event.type} shows no account`)
    }
    const isActorNotified = expected.from && !event.type.startsWith('fitmatch.match.') &&
      (await app.inbox(expected.from)).notifications.length > 0
    t.notOk(isActorNotified, 'the actor is not notified')
  }
})

t.test('both people are notified of a match, each about the other', async (t) => {
  const { receive, inbox, person } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await receive('fitmatch.match.made.v1', {
    matchId: randomUUID(),
    accountIds: [ana, ben],
    displayNames: ['Annie', 'Benny'],
    profileIds: [anasProfile, bensProfile],
    matchType: 'LIKE'
  })
  t.match((await inbox(ana)).notifications, [{
    body: 'You and Benny like each other. Say hello!',
    data: { profileId: bensProfile },
    actor: { id: bensProfile, name: 'Benny', image: null }
  }])
  t.match((await inbox(ben)).notifications, [{ body: 'You and Annie like each other. Say hello!' }])
})

t.test('FitMatch notifications never show the account: neither its id, its name nor its picture', async (t) => {
  const { receive, inbox, person, device, deliverAll, provider, log } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben Real Name', { image: 'https://cdn.example.com/ben.webp' })]
  await device(ana)
  const [matchId, profileId] = [randomUUID(), randomUUID()]
  for (const names of [{ displayName: 'Benny', profileId }, {}]) {
    const liker = await person('Ben Real Name')
    await receive('fitmatch.like.received.v1', { accountId: ana, swipeType: 'LIKE', likedBy: liker, ...names })
    t.notOk(JSON.stringify(await inbox(ana)).includes(liker))
  }
  for (const names of [{ senderName: 'Benny' }, {}]) {
    await receive('fitmatch.message.sent.v1', {
      matchId,
      messageId: randomUUID(),
      senderId: ben,
      recipientId: ana,
      hasImage: false,
      ...names
    })
  }
  for (const names of [{ displayNames: ['Annie', 'Benny'] }, {}]) {
    await receive('fitmatch.match.made.v1', {
      matchId: randomUUID(),
      accountIds: [ana, ben],
      matchType: 'LIKE',
      ...names
    })
  }
  await deliverAll()
  const { notifications } = await inbox(ana)
  // Events of one millisecond may be in any order.
  t.strictSame(notifications.map(({ body }: { body: string }) => body).sort(), [
    'Benny likes you',
    'Benny sent you a message',
    'Someone likes you',
    'Someone sent you a message',
    'You and Benny like each other. Say hello!',
    'You and Someone like each other. Say hello!'
  ])
  const like = notifications.find(({ body }: { body: string }) => body === 'Benny likes you')
  t.match(like, { data: { profileId }, actor: { id: profileId, name: 'Benny', image: null } })
  t.equal(provider.sent.length, 6)
  for (const output of [notifications, provider.sent, await log(ana)]) {
    t.notMatch(JSON.stringify(output), /Real Name|ben\.webp/)
    t.notOk(JSON.stringify(output).includes(ben))
  }
})

t.test('nobody is notified of their own actions', async (t) => {
  const { receive, inbox, person } = reset()
  const ana = await person('Ana')
  const [postId, commentId] = [randomUUID(), randomUUID()]
  await receive('social.post.liked.v1', { postId, authorId: ana, likedBy: ana, excerpt: null })
  await receive('social.post.commented.v1', { postId, commentId, authorId: ana, commentedBy: ana, excerpt: null })
  await receive('social.comment.replied.v1', {
    postId,
    commentId,
    parentId: commentId,
    parentAuthorId: ana,
    repliedBy: ana,
    excerpt: null
  })
  await receive('social.people.mentioned.v1', { postId, commentId, authorId: ana, mentioned: [ana], excerpt: null })
  await receive('social.story.reacted.v1', { storyId: postId, authorId: ana, reactedBy: ana, emoji: '🔥' })
  t.match(await inbox(ana), { notifications: [], unreadCount: 0 })
})

t.test('a comment creates one notification for a person who is author, replied to and mentioned', async (t) => {
  const { receive, inbox, person } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const [postId, commentId] = [randomUUID(), randomUUID()]
  await receive('social.post.commented.v1', { postId, commentId, authorId: ana, commentedBy: ben, excerpt: null })
  await receive('social.people.mentioned.v1', { postId, commentId, authorId: ben, mentioned: [ana], excerpt: null })
  t.match(await inbox(ana), { notifications: [{ title: 'New comment', data: { postId, commentId } }], unreadCount: 1 })
})

t.test('blocked people create no notifications, and their earlier ones are removed', async (t) => {
  const { receive, inbox, person, device, deliverAll, provider, log } = reset()
  const [ana, ben, cem] = [await person('Ana'), await person('Ben'), await person('Cem')]
  await device(ana)
  const message = (senderId: string, recipientId = ana) =>
    receive('fitmatch.message.sent.v1', {
      matchId: randomUUID(),
      messageId: randomUUID(),
      senderId,
      senderName: senderId === cem ? 'Cem' : 'Other',
      recipientId,
      hasImage: false
    })
  await message(ben)
  await message(cem)
  t.equal((await inbox(ana)).unreadCount, 2)

  await receive('fitmatch.person.blocked.v1', { blockerId: ana, blockedId: ben })
  await message(ben)
  await message(ana, ben)
  t.match(await inbox(ana), { notifications: [{ title: 'Cem' }], unreadCount: 1 })
  t.match(await inbox(ben), { notifications: [], unreadCount: 0 })

  await deliverAll()
  t.match(provider.sent, [{ title: 'Cem' }], 'waiting pushes are not sent')
  t.match((await log(ana)).map((each: { status: string }) => each.status).sort(), ['muted', 'sent'])

  await receive('fitmatch.person.unblocked.v1', { blockerId: ana, blockedId: ben })
  await message(ben)
  t.equal((await inbox(ana)).unreadCount, 2)
})

t.test('of a block and an unblock in the same millisecond the later one wins, whichever arrives first', async (t) => {
  const { receive, inbox, person } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const at = new Date()
  const message = async () => {
    await receive('fitmatch.message.sent.v1', {
      matchId: randomUUID(),
      messageId: randomUUID(),
      senderId: ben,
      recipientId: ana,
      hasImage: false
    })
    return (await inbox(ana)).unreadCount
  }
  await receive('fitmatch.person.blocked.v1', { blockerId: ana, blockedId: ben }, { at, sequence: 3 })
  await receive('fitmatch.person.unblocked.v1', { blockerId: ana, blockedId: ben }, { at, sequence: 2 })
  t.equal(await message(), 0)
  await receive('fitmatch.person.unblocked.v1', { blockerId: ana, blockedId: ben }, { at, sequence: 4 })
  t.equal(await message(), 1)
})

t.test('a sign-in is not pushed to its own device, and one from a known device creates no notification', async (t) => {
  const { receive, inbox, person, device, deliverAll, provider, neighbours } = reset()
  const ana = await person('Ana')
  neighbours.contacts.set(ana, { email: 'ana@example.com', name: 'Ana', locale: 'en' })
  const [phone, tablet] = [randomUUID(), randomUUID()]
  const token = await device(ana, { sessionId: phone })
  await device(ana, { sessionId: tablet })
  const started = {
    accountId: ana,
    sessionId: tablet,
    method: 'PASSWORD',
    newDevice: true,
    deviceName: null,
    platform: 'ios'
  }
  await receive('identity.session.started.v1', started)
  await receive('identity.session.started.v1', { ...started, sessionId: phone, newDevice: false })
  await deliverAll()
  t.match((await inbox(ana)).notifications, [{ type: 'ACCOUNT', data: { sessionId: tablet } }])
  t.match(provider.sent.map((push) => push.token), [token])
})

t.test('unknown people are looked up, and the event is retried until the lookup works', async (t) => {
  const { receive, inbox, neighbours } = reset()
  const [ana, ben, nobody] = [randomUUID(), randomUUID(), randomUUID()]
  const follow = { followerId: ben, followedId: ana }
  neighbours.isUnavailable = true
  await t.rejects(
    receive('social.person.followed.v1', follow),
    { code: 'SERVICE_UNAVAILABLE' },
    'the event is retried later'
  )
  neighbours.isUnavailable = false
  neighbours.people.set(ana, { accountId: ana, name: 'Ana', image: null, locale: 'id', timezone: 'Asia/Jakarta' })
  neighbours.people.set(ben, {
    accountId: ben,
    name: 'Ben',
    image: 'https://cdn.example.com/ben.webp',
    locale: 'en',
    timezone: 'UTC'
  })
  await receive('social.person.followed.v1', follow)
  t.match((await inbox(ana)).notifications, [{
    body: 'Ben kini mengikuti Anda',
    actor: { id: ben, name: 'Ben', image: 'https://cdn.example.com/ben.webp' }
  }])

  await receive('social.person.followed.v1', { followerId: nobody, followedId: ana })
  t.match((await inbox(ana)).notifications, [{ body: 'Seseorang kini mengikuti Anda', actor: null }, {}])
  await receive('social.person.followed.v1', { followerId: ana, followedId: nobody })
  t.strictSame((await inbox(nobody)).notifications, [], 'an account that does not exist gets no notification')
})

t.test('each of many concurrent events creates one notification, also while another one fails', async (t) => {
  const { receive, person, device, inbox, pushes, neighbours } = reset()
  const [ana, ben, unknown] = [await person('Ana'), await person('Ben'), randomUUID()]
  await device(ana)
  await device(ben)
  neighbours.isUnavailable = true
  const message = (senderId: string, recipientId: string) => ({
    matchId: randomUUID(),
    messageId: randomUUID(),
    senderId,
    recipientId,
    hasImage: false
  })
  const messages = Array.from({ length: 30 }, (_, number) => number % 3 === 0 ? message(ben, ana) : message(ana, ben))
  const deliveries = [...messages, ...messages.slice(0, 10), message(unknown, ana), ...messages.slice(20)]
  const outcomes = await Promise.allSettled(
    deliveries.map(async (data) => await receive('fitmatch.message.sent.v1', data))
  )
  t.strictSame(outcomes.flatMap(({ status }, number) => status === 'rejected' ? [number] : []), [40])
  const [ofAna, ofBen] = [await inbox(ana, '?limit=50'), await inbox(ben, '?limit=50')]
  t.strictSame([ofAna.notifications.length, ofAna.unreadCount, ofBen.notifications.length, ofBen.unreadCount], [
    10,
    10,
    20,
    20
  ])
  t.equal(new Set(pushes.enqueued.map(({ id }) => id)).size, 30)
})

t.test('an account that starts to read in realtime while it is notified gets frames', async (t) => {
  const { db, deps, person } = reset()
  const accounts = [await person('Ana'), await person('Ben'), await person('Cia')]
  const [ana] = accounts
  const [recipients = []] = await findRecipients(deps, [{ to: accounts, actorId: null }])
  const reachLevel = async (level: number) => {
    const request = { kind: 'levelReached' as const, dedupeKey: `level:${level}`, to: accounts, params: { level } }
    const now = new Date()
    return await db.transaction().execute(async (trx) =>
      await notifyWithin(trx, [{ request, recipients, occurredAt: now }], now)
    )
  }
  t.strictSame((await reachLevel(2)).signal, [])
  let writing: ReturnType<typeof reachLevel> | undefined
  await db.transaction().execute(async (trx) => {
    await trx.updateTable('inboxes')
      .set({ realtime_epoch: 'e', realtime_until: new Date(Date.now() + 60_000) })
      .where('account_id', '=', ana!)
      .execute()
    writing = reachLevel(3)
    // Long enough for it to wait for this transaction.
    await sleep(200)
  })
  const { signal } = (await writing)!
  const frames = await db.selectFrom('realtime_frames').select(['account_id', 'seq', 'type', 'ids'])
    .where('account_id', 'in', accounts).execute()
  t.strictSame(frames.map((frame) => [frame.account_id, frame.seq]), signal)
  t.match(frames, [{ account_id: ana, type: 'notification.created', ids: { dedupeKey: 'level:3' } }])
  t.equal(frames.length, 1)
})

t.test('processes that notify the same people at once, while these read and unfollow, do not deadlock', async (t) => {
  const { db, deps, receive, person, inbox } = reset()
  const people = await Promise.all(['Ana', 'Ben'].map(async (name) => await person(name)))
  await db.updateTable('inboxes')
    .set({ realtime_epoch: 'e', realtime_until: new Date(Date.now() + 60_000) })
    .where('account_id', 'in', people)
    .execute()
  const matchId = randomUUID()
  await Promise.all(Array.from({ length: 60 }, async (_, number) => {
    const [from, to] = (number % 2 === 0 ? people : people.toReversed()) as [string, string]
    const messageId = randomUUID()
    const message = {
      kind: 'messageReceived' as const,
      dedupeKey: messageKey(messageId),
      to: [to],
      actorId: from,
      data: { matchId, messageId },
      params: { hasImage: false }
    }
    // Each call is a transaction of its own, as in another process.
    await notify(deps, message, new Date())
    await receive('fitmatch.messages.read.v1', { matchId, readerId: to, senderId: from, messageIds: [messageId] })
    await receive('social.person.unfollowed.v1', { followerId: from, followedId: to })
  }))
  for (const each of people) t.match(await inbox(each, '?limit=50'), { unreadCount: 0, notifications: { length: 30 } })
  t.equal(
    (await db.selectFrom('realtime_frames').where('account_id', 'in', people).select('seq').execute()).length,
    60 * 5
  )
})

t.test('a notification shows current names, and late profile events change nothing', async (t) => {
  const { receive, inbox, person, deps } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await receive('social.person.followed.v1', { followerId: ben, followedId: ana })
  await receive('profile.person.changed.v1', {
    accountId: ben,
    name: 'Benny',
    username: 'ben',
    image: null,
    bio: null,
    locale: 'en',
    timezone: 'UTC'
  })
  t.match((await inbox(ana)).notifications, [{ body: 'Benny started following you', actor: { name: 'Benny' } }])
  await upsertPeople(
    deps,
    [{ accountId: ben, name: 'Old', image: null, locale: 'en', timezone: 'UTC' }],
    new Date(Date.now() - 60_000)
  )
  t.match((await inbox(ana)).notifications, [{ body: 'Benny started following you' }])
})

t.test('the picture of an actor is shown at the current media URL', async (t) => {
  const { deps, receive, person } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await receive('social.person.followed.v1', { followerId: ben, followedId: ana })
  const key = `public/${randomUUID()}.webp`
  await receive('profile.person.changed.v1', {
    accountId: ben,
    name: 'Ben',
    username: 'ben',
    image: deps.mediaUrls.urlOf(key),
    bio: null,
    locale: 'en',
    timezone: 'UTC'
  })
  for (const cdnUrl of ['https://cdn.example.com', 'https://new.example/files']) {
    const { notifications } = await readInbox({ ...deps, mediaUrls: createMediaUrls(cdnUrl) }, ana, { limit: 5 })
    t.equal(notifications[0]?.actor?.image, `${cdnUrl}/${key}`)
  }
})

t.test('an event redelivered after a crash enqueues the unfinished pushes', async (t) => {
  const { receive, person, device, pushes, deliverAll, provider } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  await device(ana)
  const event = { matchId: randomUUID(), messageId: randomUUID(), senderId: ben, recipientId: ana, hasImage: false }
  await receive('fitmatch.message.sent.v1', event)
  const [lost] = pushes.enqueued.splice(0)
  await receive('fitmatch.message.sent.v1', event)
  t.match(pushes.enqueued, [{ id: lost?.id }])
  await deliverAll()
  await receive('fitmatch.message.sent.v1', event)
  t.strictSame(pushes.enqueued, [])
  t.equal(provider.sent.length, 1)
})

t.test('an event that arrives more than a day late is in the inbox and is not pushed', async (t) => {
  const { deps, person, device, inbox, log } = reset()
  const ana = await person('Ana')
  await device(ana)
  await notify(
    deps,
    { kind: 'levelReached', dedupeKey: 'level:2', to: [ana], params: { level: 2 } },
    new Date(Date.now() - 25 * 60 * 60 * 1_000)
  )
  t.match(await inbox(ana), { unreadCount: 1 })
  t.match(await log(ana), [{ status: 'muted', reason: 'the event arrived more than a day late' }])
})
