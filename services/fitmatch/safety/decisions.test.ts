import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { deliver } from '@tandem/bus-kit/testing'
import { DecisionMade, FitMatchDecisionApplied, ReportResolved, SuspensionChanged } from '@tandem/contracts'
import { createPng } from '@tandem/media-kit/testing'
import { testApp, type Member } from '../test/app.ts'
import { deleteUnused } from '../photos/files.ts'
import { decideVerification } from '../verification/actions.ts'
import { liftEndedSuspensions } from './decisions.ts'

const { db, handlers, get, post, del, member, memberWithPhotos, publishedEvents, upload, operator, deps } =
  await testApp(
    t
  )

const nothing = { scope: null, until: null, photoId: null }
const decision = (accountId: string, actions: object[], caseId: string | null = null, more = {}) => ({
  decisionId: randomUUID(),
  accountId,
  case: caseId && { service: 'fitmatch', id: caseId },
  actions: actions.map((action) => ({ ...nothing, ...action })),
  outcome: 'ACTION_TAKEN',
  automated: false,
  madeAt: new Date().toISOString(),
  ...more
})
const apply = async (data: object, sequence: number, id = randomUUID()) =>
  await deliver(handlers, DecisionMade.type, data, { id, sequence })
const report = async (one: Member, other: Member, reason = 'HARASSMENT') =>
  await post(one.id, '/fitmatch/report', { reportedProfileId: other.profileId, reason })
const statusOf = async ({ id }: Member) => (await get(id, '/fitmatch/settings')).data.status
const caseOf = async ({ id }: Member) =>
  await db.selectFrom('cases').where('account_id', '=', id).selectAll().executeTakeFirstOrThrow()

t.test('all reports of a person are one case, and a decision resolves all of them, once', async (t) => {
  const [ana, cleo, ben] = [await member('Ana'), await member('Cleo'), await member('Ben')]
  await report(ana, ben, 'SPAM')
  await report(cleo, ben)
  const { id, ...opened } = await caseOf(ben)
  t.match(opened, { priority: 2, reports_count: 2, target_type: 'PROFILE' })
  const made = decision(ben.id, [{
    type: 'RESTRICT',
    scope: 'FITMATCH',
    until: new Date(Date.now() + 60_000).toISOString()
  }], id)
  const eventId = randomUUID()
  await Promise.all([apply(made, 1, eventId), apply(made, 1, eventId)])
  t.equal(await statusOf(ben), 'SUSPENDED')
  t.match(await caseOf(ben), { outcome: 'ACTION_TAKEN' })
  t.match((await get(ana.id, '/fitmatch/report')).data.reports, [{
    status: 'RESOLVED',
    outcome: 'ACTION_TAKEN',
    state: 'ACTION_TAKEN'
  }])
  t.match(
    new Map((await publishedEvents(ReportResolved)).map(({ reporterId, outcome }) => [reporterId, outcome])),
    new Map([[ana.id, 'ACTION_TAKEN'], [cleo.id, 'ACTION_TAKEN']])
  )
  t.same(await publishedEvents(FitMatchDecisionApplied), [{ decisionId: made.decisionId }])
  t.match((await publishedEvents(SuspensionChanged)).filter(({ accountId }) => accountId === ben.id), [{
    isDecision: true
  }])
})

t.test('a suspension ends by itself, and a later decision wins in any order', async (t) => {
  const ben = await member('Ben')
  const until = new Date(Date.now() + 60_000).toISOString()
  await apply(decision(ben.id, [{ type: 'RESTRICT', scope: 'FITMATCH', until }]), 1)
  await liftEndedSuspensions(db)
  t.equal(await statusOf(ben), 'SUSPENDED')
  await sql`update members set suspended_until = now() where account_id = ${ben.id}`.execute(db)
  await Promise.all([liftEndedSuspensions(db), liftEndedSuspensions(db)])
  t.equal(await statusOf(ben), 'ACTIVE')
  await apply(decision(ben.id, [{ type: 'LIFT', scope: 'ALL' }]), 9)
  await apply(decision(ben.id, [{ type: 'RESTRICT', scope: 'FITMATCH', until }]), 5)
  t.equal(await statusOf(ben), 'ACTIVE')
  await apply(decision(ben.id, [{ type: 'RESTRICT', scope: 'POSTING', until }]), 10)
  t.equal(await statusOf(ben), 'ACTIVE', 'what concerns posts changes nothing here')
})

const suspendForAMinute = async ({ id }: Member, sequence: number) =>
  await apply(
    decision(id, [{ type: 'RESTRICT', scope: 'FITMATCH', until: new Date(Date.now() + 60_000).toISOString() }]),
    sequence
  )
async function resolveReportOf (reported: Member, action: string) {
  const { id } = await db.selectFrom('reports').where('reported_id', '=', reported.id).select('id')
    .executeTakeFirstOrThrow()
  return await operator('POST', `/fitmatch/admin/reports/${id}/resolve`, { action })
}
/** Makes the time of all suspensions pass that have an end. */
async function passTime () {
  await sql`update members set suspended_until = now() where suspended_until is not null`.execute(db)
  await liftEndedSuspensions(db)
}

t.test('a suspension until a review outlasts an earlier one with an end', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await suspendForAMinute(ben, 1)
  t.match(await report(ana, ben, 'UNDERAGE'), { status: 201 })
  const { id } = await caseOf(ben)
  const suspensionsOf = async ({ id }: Member) =>
    (await publishedEvents(SuspensionChanged)).filter(({ accountId }) => accountId === id)
  t.match((await suspensionsOf(ben)).at(-1), { suspended: true, automatedCaseId: id }, 'identity states the reasons')
  await passTime()
  t.equal(await statusOf(ben), 'SUSPENDED')
  await report(await member('Cleo'), ben)
  t.equal((await suspensionsOf(ben)).length, 2, 'a further report changes nothing')

  const dan = await member('Dan')
  await report(ana, dan)
  await suspendForAMinute(dan, 1)
  t.match(await resolveReportOf(dan, 'SUSPEND'), { status: 200 })
  await passTime()
  t.equal(await statusOf(dan), 'SUSPENDED')
})

t.test('the end of a suspension that was lifted before it does not end a later one', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await report(ana, ben)
  await suspendForAMinute(ben, 1)
  t.match(await resolveReportOf(ben, 'RESTORE'), { status: 200 })
  t.equal(await statusOf(ben), 'ACTIVE')
  await report(await member('Cleo'), ben, 'UNDERAGE')
  await passTime()
  t.equal(await statusOf(ben), 'SUSPENDED')
})

t.test('a suspension that cannot be ended keeps no other from its end, and ends later', async (t) => {
  const people = [await member('Ana'), await member('Ben'), await member('Cleo')]
  const until = new Date(Date.now() + 60_000).toISOString()
  for (const { id } of people) await apply(decision(id, [{ type: 'RESTRICT', scope: 'FITMATCH', until }]), 1)
  await sql`update members set suspended_until = now() where suspended_until is not null`.execute(db)
  const statuses = async () => await Promise.all(people.map(statusOf))
  await sql`alter table members add constraint broken
    check (account_id <> ${sql.lit(people[0]!.id)} or suspended_at is not null) not valid`.execute(db)
  await t.rejects(liftEndedSuspensions(db), { code: '23514' })
  await sql`alter table members drop constraint broken`.execute(db)
  t.same(await statuses(), ['SUSPENDED', 'ACTIVE', 'ACTIVE'])
  await liftEndedSuspensions(db)
  t.same(await statuses(), ['ACTIVE', 'ACTIVE', 'ACTIVE'])
})

t.test('a removed photo comes back as it was after a reversal, in whatever order the two arrive', async (t) => {
  const ben = await memberWithPhotos('Ben')
  await upload(ben.id, '/fitmatch/photos', 'file', createPng())
  const photosOf = async () => (await get(ben.id, '/fitmatch/photos')).data.photos
  const before = await photosOf()
  const main = before.find(({ isMain }: { isMain: boolean }) => isMain)
  const uploaded = before.at(-1)
  const { url: key } = await db.selectFrom('photos').where('id', '=', uploaded.id).select('url')
    .executeTakeFirstOrThrow()
  for (const [turn, { id }] of [main, uploaded].entries()) {
    const remove = decision(ben.id, [{ type: 'REMOVE_PHOTO', photoId: id }])
    const restore = decision(ben.id, [{ type: 'RESTORE_CONTENT', photoId: id }])
    const [removeId, restoreId] = [randomUUID(), randomUUID()]
    for (let repeat = 0; repeat < 2; repeat++) await apply(remove, 10 + turn * 10, removeId)
    t.equal((await photosOf()).length, before.length - 1)
    if (id === uploaded.id) t.equal(await deps.media.find(key), undefined, 'nobody sees its file')
    for (let repeat = 0; repeat < 2; repeat++) await apply(restore, 11 + turn * 10, restoreId)
    t.same(await photosOf(), before)
    await apply({ ...remove, decisionId: randomUUID() }, 10 + turn * 10)
    t.same(await photosOf(), before, 'a removal that arrives late changes nothing')
  }
  t.ok(await deps.media.find(key))

  const [first] = before
  await apply(decision(ben.id, [{ type: 'RESTORE_CONTENT', photoId: first.id }]), 51)
  await apply(decision(ben.id, [{ type: 'REMOVE_PHOTO', photoId: first.id }]), 50)
  t.same(await photosOf(), before, 'nor one of a photo whose restoration arrived first')
  const other = await memberWithPhotos('Eve')
  await apply(decision(other.id, [{ type: 'REMOVE_PHOTO', photoId: first.id }]), 90)
  await apply(decision(other.id, [{ type: 'RESTORE_CONTENT', photoId: first.id }]), 91)
  t.same(await photosOf(), before, 'nor one of somebody else')
})

t.test('a photo that is restored while its file is still to be deleted keeps the file', async (t) => {
  const ben = await memberWithPhotos('Ben')
  await upload(ben.id, '/fitmatch/photos', 'file', createPng())
  const { id, url: key } = await db.selectFrom('photos').where('profile_id', '=', ben.profileId).select(['id', 'url'])
    .orderBy('sort_order', 'desc').executeTakeFirstOrThrow()
  const { remove } = deps.media
  deps.media.remove = async () => {
    throw new Error('the storage is unavailable')
  }
  await apply(decision(ben.id, [{ type: 'REMOVE_PHOTO', photoId: id }]), 1)
  deps.media.remove = remove
  t.ok(await db.selectFrom('unused_files').where('key', '=', key).select('key').executeTakeFirst())
  await apply(decision(ben.id, [{ type: 'RESTORE_CONTENT', photoId: id }]), 2)
  t.ok((await get(ben.id, '/fitmatch/photos')).data.photos.some((photo: { id: string }) => photo.id === id))
  await deleteUnused(deps)
  t.ok(await deps.media.find(key))
})

t.test('a photo of a deleted profile is not put back into a later one', async (t) => {
  const ben = await memberWithPhotos('Ben')
  await upload(ben.id, '/fitmatch/photos', 'file', createPng())
  const { id, url: key } = await db.selectFrom('photos').where('profile_id', '=', ben.profileId).select(['id', 'url'])
    .orderBy('sort_order', 'desc').executeTakeFirstOrThrow()
  await apply(decision(ben.id, [{ type: 'REMOVE_PHOTO', photoId: id }]), 1)
  await del(ben.id, '/fitmatch/profile')
  t.equal((await post(ben.id, '/fitmatch/profile', {})).status, 201)
  const before = (await get(ben.id, '/fitmatch/photos')).data.photos
  await apply(decision(ben.id, [{ type: 'RESTORE_CONTENT', photoId: id }]), 2)
  t.same((await get(ben.id, '/fitmatch/photos')).data.photos, before)
  t.equal(await deps.media.find(key), undefined)
})

t.test('a photo for which there is no room any more leaves no file, nor does one that is removed twice', async (t) => {
  const ben = await memberWithPhotos('Ben')
  await upload(ben.id, '/fitmatch/photos', 'file', createPng())
  const photosOf = async () =>
    await db.selectFrom('photos').where('profile_id', '=', ben.profileId).select(['id', 'url']).orderBy(
      'sort_order',
      'desc'
    )
      .execute()
  const { id, url: key } = (await photosOf())[0]!
  const remove = async (sequence: number) =>
    await apply(decision(ben.id, [{ type: 'REMOVE_PHOTO', photoId: id }]), sequence)
  const restore = async (sequence: number) =>
    await apply(decision(ben.id, [{ type: 'RESTORE_CONTENT', photoId: id }]), sequence)
  const copyOf = async () =>
    (await db.selectFrom('removed_photos').where('photo_id', '=', id).select('copy').executeTakeFirstOrThrow()).copy
  await remove(1)
  const copy = await copyOf()
  await restore(2)
  await remove(3)
  t.equal(await copyOf(), copy, 'its copy is the one that is known, and deleted later')
  while ((await photosOf()).length < 6) await upload(ben.id, '/fitmatch/photos', 'file', createPng())
  for (let repeat = 0; repeat < 2; repeat++) await restore(4)
  t.equal((await photosOf()).length, 6)
  t.equal(await deps.media.find(key), undefined)
})

t.test('a restoration that overtakes the end of a removal leaves the photo as it is', async (t) => {
  const ben = await memberWithPhotos('Ben')
  await upload(ben.id, '/fitmatch/photos', 'file', createPng())
  const before = (await get(ben.id, '/fitmatch/photos')).data.photos
  const { id, url: key } = await db.selectFrom('photos').where('profile_id', '=', ben.profileId).select(['id', 'url'])
    .orderBy('sort_order', 'desc').executeTakeFirstOrThrow()
  const { copy } = deps.media
  deps.media.copy = async () => {
    throw new Error('the storage is unavailable')
  }
  await t.rejects(apply(decision(ben.id, [{ type: 'REMOVE_PHOTO', photoId: id }]), 1))
  deps.media.copy = copy
  await apply(decision(ben.id, [{ type: 'RESTORE_CONTENT', photoId: id }]), 2)
  await sql`update unused_files set delete_after = now()`.execute(db)
  await deleteUnused(deps)
  t.same((await get(ben.id, '/fitmatch/photos')).data.photos, before)
  t.equal((await get(ben.id, '/fitmatch/discover')).status, 200)
  t.ok(await deps.media.find(key))
})

t.test('a verified main photo comes back with the verification and its badge', async (t) => {
  const ben = await memberWithPhotos('Ben')
  await upload(ben.id, '/fitmatch/verification', 'photo', createPng())
  const { id: verificationId } = await db.selectFrom('verifications').where('account_id', '=', ben.id).select('id')
    .executeTakeFirstOrThrow()
  const operator = { accountId: randomUUID(), sessionId: randomUUID(), network: '203.0.113', requestId: 'r-1' }
  await decideVerification(db, { operator, ownAccountId: null, verificationId, rejection: null })
  const [main, other] = (await get(ben.id, '/fitmatch/photos')).data.photos
  await upload(ben.id, '/fitmatch/photos', 'file', createPng())
  await del(ben.id, `/fitmatch/photos?id=${other.id}`)
  const state = async () => ({
    badges: (await get(ben.id, '/fitmatch/badges')).data.badges,
    status: (await get(ben.id, '/fitmatch/verification')).data.verification.status
  })
  const verified = { badges: ['PHOTO_VERIFIED'], status: 'APPROVED' }
  t.match(await state(), verified)
  await apply(decision(ben.id, [{ type: 'REMOVE_PHOTO', photoId: main.id }]), 1)
  t.match(await state(), { badges: [], status: 'NONE' })
  const restored = randomUUID()
  for (let repeat = 0; repeat < 2; repeat++) {
    await apply(decision(ben.id, [{ type: 'RESTORE_CONTENT', photoId: main.id }]), 2, restored)
  }
  t.match(await state(), verified)
  const { photo_verified: isVerified } = await db.selectFrom('profiles').where('account_id', '=', ben.id)
    .select('photo_verified').executeTakeFirstOrThrow()
  t.ok(isVerified)
})

t.test('of two decisions about a case, the later one is its outcome in any order', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  await report(ana, ben)
  const { id } = await caseOf(ben)
  const until = new Date(Date.now() + 60_000).toISOString()
  await apply(decision(ben.id, [{ type: 'RESTRICT', scope: 'FITMATCH', until }], id), 6)
  await apply(decision(ben.id, [{ type: 'DISMISS' }], id, { outcome: 'NO_VIOLATION' }), 5)
  t.match(await caseOf(ben), { outcome: 'ACTION_TAKEN' })
  t.match((await get(ana.id, '/fitmatch/report')).data.reports, [{ outcome: 'ACTION_TAKEN' }])
  const longer = new Date(Date.now() + 90_000).toISOString()
  await apply(
    decision(ben.id, [{ type: 'LIFT', scope: 'FITMATCH' }], null, {
      restrictions: [{ scope: 'FITMATCH', until: longer }]
    }),
    7
  )
  t.equal(await statusOf(ben), 'SUSPENDED', 'the restriction of another decision stays')
  const { suspended_until: suspendedUntil } = await db.selectFrom('members').where('account_id', '=', ben.id)
    .select('suspended_until').executeTakeFirstOrThrow()
  t.equal(suspendedUntil?.toISOString(), longer)
})

t.test('a photo can be removed, also when it is gone already', async (t) => {
  const ben = await memberWithPhotos('Ben')
  const { data: { photos } } = await get(ben.id, '/fitmatch/photos')
  const remove = decision(ben.id, [{ type: 'REMOVE_PHOTO', photoId: photos[0].id }])
  await apply(remove, 1)
  t.equal((await get(ben.id, '/fitmatch/photos')).data.photos.length, photos.length - 1)
  await apply({ ...remove, decisionId: randomUUID() }, 2)
  t.equal(
    (await publishedEvents(FitMatchDecisionApplied)).filter(({ decisionId }) => decisionId === remove.decisionId)
      .length,
    1
  )
})

t.test('a suspension without a decision raises its case, and names it for identity', async (t) => {
  const ben = await member('Ben')
  for (const name of ['Ana', 'Cleo', 'Dia']) await report(await member(name), ben, 'SPAM')
  t.equal(await statusOf(ben), 'SUSPENDED')
  const { id, priority } = await caseOf(ben)
  t.equal(priority, 3)
  t.match((await publishedEvents(SuspensionChanged)).filter(({ accountId }) => accountId === ben.id), [
    { suspended: true, automatedCaseId: id }
  ])
  await apply(decision(ben.id, [{ type: 'RESTRICT', scope: 'FITMATCH' }], id, { automated: true }), 1)
  t.match(await caseOf(ben), { outcome: null }, 'the automated decision does not close it')
  await apply(decision(ben.id, [{ type: 'LIFT', scope: 'FITMATCH' }], id, { outcome: 'NO_VIOLATION' }), 2)
  t.equal(await statusOf(ben), 'ACTIVE')
  t.match(await caseOf(ben), { outcome: 'NO_VIOLATION' })
  await report(await member('Eve'), ben, 'SPAM')
  t.equal(await statusOf(ben), 'ACTIVE')
})
