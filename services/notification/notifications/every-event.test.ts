import { randomUUID } from 'node:crypto'
import t from 'tap'
import { BroadcastSent, PostLiked, type EventDefinition } from '@tandem/contracts'
import { readSample } from '@tandem/contracts/samples'
import { notifyNextChunk } from '../broadcasts/actions.ts'
import { testApp, type TestApp } from '../test/app.ts'
import { renderText } from '../texts/texts.ts'
import { typeOf, usesDisplayName } from '../texts/kinds.ts'
import { registry } from './registry.ts'

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
    with: { startsAt: '2099-11-21T08:00:00.000Z' },
    title: 'Booking reminder',
    body: 'Badminton, court 2, Saturday, November 21, 2099 at 3:00 PM',
    indonesian: 'Badminton, court 2, Sabtu, 21 November 2099 pukul 15.00'
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
