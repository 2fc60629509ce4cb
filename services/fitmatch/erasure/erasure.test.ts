import { createHash, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { checkErasure, checkExport, checkIndexes, checkSchema, type Seed } from '@tandem/account-kit/testing'
import { copyCaseFiles } from '@tandem/case-kit'
import { createPng } from '@tandem/media-kit/testing'
import { runHousekeeping } from '../housekeeping.ts'
import { personalData } from '../personal-data.ts'
import { deleteUnused } from '../photos/files.ts'
import { activityApi } from '../test/activities.ts'
import { testApp } from '../test/app.ts'

const api = await testApp(t)
const { db, deps, get, post, memberWithPhotos, createMatch, upload, operator } = api
const { erasure } = deps

t.test('every table of the live schema is declared', async (t) => await checkSchema(t, { db, personalData }))

t.test('an erasure reads no table as a whole', async (t) => await checkIndexes(t, { db, personalData }))

const seed: Seed = async ({ accountId: account_id, otherId, insert, markers }) => {
  for (const table of ['members', 'setup_drafts', 'activity', 'badges', 'badge_progress', 'message_quota']) {
    await insert(table, { account_id })
  }
  const sportBits = '0'.repeat(128)
  const { id: profile_id } = await insert('profiles', {
    account_id,
    sport_bits: sportBits,
    age_min: 18,
    age_max: 99
  })
  const photo = await insert('photos', { profile_id, uploaded: true })
  await insert('venues', { profile_id })
  const selfie = await insert('selfies', { key: `selfies/${account_id}/${randomUUID()}.webp` })
  const verification = await insert('verifications', { account_id, selfie_key: selfie['key'], reason: 'blurred' })
  await insert('verification_photos', { verification_id: verification['id'], photo_id: photo['id'] })
  const [low_id, high_id] = [account_id, otherId].sort()
  const { id: match_id } = await insert('matches', { low_id, high_id, match_type: 'LIKE' })
  await insert('messages', { match_id, sender_id: account_id, content: markers.own, created_at: new Date(1) })
  await insert('messages', { match_id, sender_id: otherId, content: markers.other, created_at: new Date(2) })
  await insert('typing_indicators', { match_id, account_id })
  const times = {
    start_time: '10:00',
    end_time: '11:00',
    starts_at: new Date('2020-01-01T10:00:00Z'),
    ends_at: new Date('2020-01-01T11:00:00Z')
  }
  const { id: activity_id } = await insert('activities', {
    host_id: account_id,
    visibility: 'OPEN',
    status: 'FINISHED',
    capacity: 2,
    going_count: 1,
    ...times
  })
  await insert('activity_participants', { activity_id, account_id, state: 'GOING' })
  await insert('swipes', { swiper_id: account_id, target_id: otherId, swipe_type: 'LIKE' })
  await insert('swipes', { swiper_id: otherId, target_id: account_id, swipe_type: 'LIKE' })
  await insert('deleted_profiles', { account_id })
  const later = { ask_at: new Date('2030-01-01'), alarm_at: new Date('2030-01-02'), due_at: new Date('2030-01-01') }
  await insert('meetings', { account_id, status: 'ARMED', minutes: 60, ...later })
  await insert('buddies', { low_id, high_id, sport: 'badminton' })
  await insert('buddy_requests', { from_id: otherId, to_id: account_id, sport: 'badminton' })
  await insert('buddy_refusals', { from_id: otherId, to_id: account_id })
  await insert('people', { account_id })
  await insert('blocks', { blocker_id: account_id, blocked_id: otherId })
  await insert('blocks', { blocker_id: otherId, blocked_id: account_id })
  const messages = JSON.stringify([{ senderId: account_id, content: 'mine' }, {
    senderId: otherId,
    content: 'theirs'
  }])
  await insert('reports', {
    reporter_id: account_id,
    reported_id: otherId,
    profile: '{}',
    reason: 'SPAM',
    messages
  })
  await insert('reports', {
    reporter_id: randomUUID(),
    reported_id: otherId,
    profile: '{}',
    reason: 'SPAM',
    messages: '[]',
    activity: JSON.stringify({ hostedBy: null, hostId: account_id, note: markers.own })
  })
  const decided = { outcome: 'NO_VIOLATION', resolved_at: new Date('2020-01-01') }
  const old = await insert('cases', { account_id, ...decided })
  await insert('case_evidence', { case_id: old['id'] })
  const { id: case_id } = await insert('cases', { account_id: otherId, target_type: 'others', ...decided })
  await insert('case_evidence', {
    case_id,
    content: JSON.stringify({ messages: [{ senderId: account_id, content: markers.own }] }),
    others: [account_id]
  })
  await insert('case_files', { case_id: old['id'], owner_id: account_id })
  await insert('audit_log', { account_id, action: 'REPORT_SUSPEND', created_at: new Date('2020-01-01') })
  for (const table of ['idempotency_keys', 'daily_quotas', 'hidden_people']) await insert(table, { account_id })
  await insert('failed_messages', { message: account_id })
}

t.test('an erasure leaves nothing of an account, and counts what it erased', async (t) => {
  await checkErasure(t, { db, erasure, personalData, seed })
})

t.test('the copy of a person has every table with their data, and nothing of anybody else', async (t) => {
  await checkExport(t, {
    db,
    erasure,
    personalData,
    mayNameOther: ['messages', 'swipes', 'buddies', 'buddy_requests', 'blocks', 'reports'],
    async seed (people) {
      await seed(people)
      const { accountId, otherId, insert } = people
      await insert('reports', { reporter_id: otherId, reported_id: accountId, profile: '{}', messages: '[]' })
      await insert('audit_log', { account_id: accountId, action: 'REPORT_DISMISS' })
    }
  })
})

t.test('a match goes with its messages and files, for both, and the other person keeps everything else', async (t) => {
  const [ana, ben, cleo] = [
    await memberWithPhotos('Ana'),
    await memberWithPhotos('Ben'),
    await memberWithPhotos('Cleo')
  ]
  const [matchId, kept] = [await createMatch(ana, ben), await createMatch(ben, cleo)]
  const image = { base64: createPng().toString('base64'), mimeType: 'image/png' }
  t.equal((await post(ana.id, `/fitmatch/chat/${matchId}/messages`, { image })).status, 201)
  await post(ben.id, `/fitmatch/chat/${matchId}/messages`, { content: 'to Ana' })
  await post(ben.id, `/fitmatch/chat/${kept}/messages`, { content: 'to Cleo' })
  t.equal((await upload(ana.id, '/fitmatch/verification', 'photo', createPng())).status, 200)
  await erase(ana.id)
  const tombstone = await db.selectFrom('departures').where('account_id', '=', ana.id).selectAll().executeTakeFirst()
  t.match(tombstone, { files: 4, rows: { messages: 2, matches: 1, photos: 2, selfies: 1 } })
  t.same(await deps.selfies.list(`selfies/${ana.id}/`), [])
  t.match(await get(ben.id, `/fitmatch/chat/${matchId}`), { status: 404 })
  const { data: { conversations, newMatches } } = await get(ben.id, '/fitmatch/matches')
  t.match([conversations.length, newMatches.length], [1, 0])
})

t.test('reports about a person stay for 180 days with their evidence, and their own reports lose their name', async (t) => {
  const [ana, ben, cleo] = [
    await memberWithPhotos('Ana'),
    await memberWithPhotos('Ben'),
    await memberWithPhotos('Cleo')
  ]
  const report = async (by: typeof ana, about: typeof ana) =>
    await post(by.id, '/fitmatch/report', { reportedProfileId: about.profileId, reason: 'SPAM', details: 'rude' })
  t.equal((await report(ben, ana)).status, 201)
  t.equal((await report(ana, cleo)).status, 201)
  await erase(ana.id)
  t.match(await erasure.verify(ana.id), { left: {}, kept: 5 })
  const about = await db.selectFrom('reports').where('reported_id', '=', ana.id).selectAll().executeTakeFirstOrThrow()
  const readFile = async () =>
    await db.selectFrom('case_files').where('owner_id', '=', ana.id).selectAll().executeTakeFirstOrThrow()
  const { source, copy } = await readFile()
  t.ok(await deps.media.find(source), 'a file stays until it is copied')
  await deleteUnused(deps, await copyCaseFiles(deps))
  t.equal(await deps.media.find(source), undefined, 'and no longer')
  const { sha256 } = await readFile()
  t.same(createHash('sha256').update((await deps.media.find(copy))!).digest(), sha256, 'the evidence is still there')
  t.match(await db.selectFrom('reports').where('reported_id', '=', cleo.id).selectAll().executeTakeFirst(), {
    reporter_id: /^0{8}-/,
    details: null
  })

  const action = { action: 'SUSPEND', note: 'seen' }
  t.equal((await operator('POST', `/fitmatch/admin/reports/${about.id}/resolve`, action)).status, 200)
  t.same(
    await db.selectFrom('members').where('account_id', '=', ana.id).selectAll().execute(),
    [],
    'nothing comes back'
  )
  await sql`update reports set resolved_at = now() - interval '181 days' where id = ${about.id}`.execute(db)
  await sql`update cases set resolved_at = now() - interval '181 days' where account_id = ${ana.id}`.execute(db)
  await sql`update audit_log set created_at = now() - interval '25 months' where account_id = ${ana.id}`.execute(db)
  await runHousekeeping(deps)
  t.match(await erasure.verify(ana.id), { left: {}, kept: 0 })
  t.equal(await deps.media.find(copy), undefined, 'the evidence is gone')
})

t.test('what an erased person wrote or planned goes from the evidence about others, and nothing else', async (t) => {
  const [ana, ben, cleo] = [
    await memberWithPhotos('Ana'),
    await memberWithPhotos('Ben'),
    await memberWithPhotos('Cleo')
  ]
  const { createWith, match } = activityApi(api)
  const matchId = await createMatch(ana, ben)
  await match(cleo, [ana, ben])
  await post(ana.id, `/fitmatch/chat/${matchId}/messages`, { content: 'from Ana' })
  await post(ben.id, `/fitmatch/chat/${matchId}/messages`, { content: 'from Ben' })
  const hosted = [
    await createWith(ana, [ben], { title: 'Hosted by Ana', note: "Ana's note" }),
    await createWith(cleo, [ana, ben], { title: 'Hosted by Cleo', note: "Cleo's note" })
  ]
  for (const { id: activityId } of hosted) {
    const report = { reportedProfileId: ben.profileId, reason: 'HARASSMENT', activityId }
    t.equal((await post(ana.id, '/fitmatch/report', report)).status, 201)
  }
  const evidence = async () =>
    await db.selectFrom('case_evidence').innerJoin('cases', 'cases.id', 'case_id').where('account_id', '=', ben.id)
      .select(['content', 'others']).orderBy('case_evidence.id').execute()
  const reports = async () =>
    await db.selectFrom('reports').where('reported_id', '=', ben.id).select(['messages', 'activity']).execute()
  t.match(await erasure.verify(ana.id), { left: { case_evidence: 2 } })
  t.match(await erasure.verify(cleo.id), { left: { case_evidence: 1, reports: 1 } })
  await db.updateTable('cases').set({ is_held: true }).where('account_id', '=', ben.id).execute()
  await erase(ana.id)
  const messages = [{ senderId: ben.id, content: 'from Ben' }]
  t.match(await evidence(), [
    { content: { displayName: 'Ben', messages, activity: { hostedBy: 'REPORTER', sport: 'running' } } },
    { content: { displayName: 'Ben', messages, activity: { hostedBy: null, note: "Cleo's note" } } }
  ])
  t.notMatch(JSON.stringify(await evidence()), new RegExp(`${ana.id}|from Ana|by Ana|Ana's`))
  await erase(cleo.id)
  t.match((await evidence()).map(({ others }) => others), [[], []])
  t.notMatch(JSON.stringify([await evidence(), await reports()]), new RegExp(`${cleo.id}|by Cleo|Cleo's`))
  for (const { id } of [ana, cleo]) t.same((await erasure.verify(id)).left, {})
  const { content } = (await evidence())[0]!
  await erase(ben.id)
  t.same((await evidence())[0]!.content, content, 'it is about Ben')
})

t.test('reports about a person stay for as long as their case is held', async (t) => {
  const [ana, ben] = [await memberWithPhotos('Ana'), await memberWithPhotos('Ben')]
  await post(ben.id, '/fitmatch/report', { reportedProfileId: ana.profileId, reason: 'SPAM', details: 'rude' })
  await deleteUnused(deps, await copyCaseFiles(deps))
  await sql`update reports set status = 'RESOLVED', action = 'SUSPEND', resolved_at = now() - interval '181 days'
    where reported_id = ${ana.id}`.execute(db)
  const setHeld = async (isHeld: boolean) =>
    await sql`update cases set is_held = ${isHeld}, outcome = 'ACTION_TAKEN', resolved_at = now() - interval '181 days'
      where account_id = ${ana.id}`.execute(db)
  await setHeld(true)
  await erase(ana.id)
  await runHousekeeping(deps)
  const reports = async () =>
    await db.selectFrom('reports').where('reported_id', '=', ana.id).select(['details', 'case_id']).execute()
  t.match(await reports(), [{ details: 'rude', case_id: String }])
  const [file] = await db.selectFrom('case_files').where('owner_id', '=', ana.id).select('copy').execute()
  t.ok(await deps.media.find(file!.copy))
  await setHeld(false)
  await runHousekeeping(deps)
  t.same(await reports(), [])
  t.equal(await deps.media.find(file!.copy), undefined)
  t.match(await erasure.verify(ana.id), { left: {}, kept: 0 })
})

async function erase (accountId: string) {
  await db.insertInto('departures').values({ account_id: accountId, erasure_id: randomUUID() }).execute()
  await erasure.eraseDue()
}
