import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { copyCaseFiles, purgeCases } from '@tandem/case-kit'
import { bearer } from '@tandem/http-kit/testing'
import { createForm, createPng } from '@tandem/media-kit/testing'
import { operatorBearer } from '@tandem/operator-kit/testing'
import { until } from '@tandem/test-kit'
import { testApp } from '../test/app.ts'
import type { Trx } from '../tables.ts'

// A hold and the deletion of its case at the same moment: the first one wins, and the case stays or goes as a whole.

const { app, db, deps, post, person } = await testApp(t)

/** A case of Ben's post with an image, whose time is over. */
async function givenOldCase () {
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const { headers, payload } = createForm(createPng(20, 20))
  const uploaded = await app.inject({ method: 'POST', url: '/media', headers: { ...bearer(ben), ...headers }, payload })
  const { url } = uploaded.json().data.media as { url: string }
  const { data } = await post(ben, '/feed', { type: 'IMAGE', content: 'Buy this', mediaUrls: [url] })
  await post(ana, '/reports', { targetType: 'POST', targetId: data.post.id, reason: 'SPAM' })
  await copyCaseFiles(deps)
  const { id } = await db.updateTable('cases').where('account_id', '=', ben)
    .set({ outcome: 'NO_VIOLATION', resolved_at: sql`now() - interval '181 days'` }).returning('id')
    .executeTakeFirstOrThrow()
  const { copy } = await db.selectFrom('case_files').where('case_id', '=', id).select('copy').executeTakeFirstOrThrow()
  const count = async (table: 'case_files' | 'case_evidence' | 'reports') =>
    (await db.selectFrom(table).where('case_id', '=', id).select('case_id').execute()).length
  return {
    id,
    ben,
    /** What is left: the file, and the rows of the case and its files, evidence and reports. */
    left: async () => [
      await deps.media.find(copy) !== undefined,
      (await db.selectFrom('cases').where('id', '=', id).select('id').execute()).length,
      await count('case_files'),
      await count('case_evidence'),
      await count('reports')
    ]
  }
}
const everything = [true, 1, 1, 1, 1]
const nothing = [false, 0, 0, 0, 0]

async function send (path: string) {
  const response = await app.inject({
    method: 'POST',
    url: `/operator/${path}`,
    headers: operatorBearer(),
    payload: { reason: 'a court' }
  })
  return { status: response.statusCode, ...response.json() }
}
const countWaiting = async () =>
  (await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db))
    .rows.length

/** Runs `purge` until it waits for the transaction in which a case is being held, then commits that. */
async function holdBefore (purge: () => Promise<unknown>, hold: (trx: Trx) => Promise<unknown>) {
  let purging: Promise<unknown> | undefined
  await db.transaction().execute(async (trx) => {
    await hold(trx)
    purging = purge()
    await until(async () => await countWaiting() === 1)
  })
  await purging
}
const setHeld = (id: string, isHeld: boolean) => sql`update cases set is_held = ${isHeld} where id = ${id}`
const propose = (id: string) => async (trx: Trx) => {
  await sql`select from cases where id = ${id} for update`.execute(trx)
  await sql`
    insert into proposals (kind, subject, reason, payload, proposed_by, proposer_invited_by)
    values ('HOLD', ${id}, 'a court', '{"isHeld":true}', ${randomUUID()}, '{}')`.execute(trx)
}
const withdraw = async (id: string) =>
  await sql`update proposals set status = 'WITHDRAWN', decided_at = now() where subject = ${id}`.execute(db)
const erase = async (ben: string) => {
  await db.insertInto('departures').values({ account_id: ben, erasure_id: randomUUID() }).execute()
  await deps.erasure.eraseDue()
}

t.test('a hold that comes before the purge keeps everything, until it ends', async (t) => {
  const held = await givenOldCase()
  await holdBefore(async () => await purgeCases(deps), async (trx) => await setHeld(held.id, true).execute(trx))
  t.same(await held.left(), everything)
  t.match(await send(`cases/${held.id}/release`), { status: 200 })
  await purgeCases(deps)
  t.same(await held.left(), nothing)

  const proposed = await givenOldCase()
  await holdBefore(async () => await purgeCases(deps), propose(proposed.id))
  t.same(await proposed.left(), everything, 'a proposed hold holds already')
  await withdraw(proposed.id)
  await purgeCases(deps)
  t.same(await proposed.left(), nothing)
})

t.test('a hold that comes before the erasure of the person keeps everything, until it ends', async (t) => {
  const held = await givenOldCase()
  await holdBefore(
    async () => await erase(held.ben),
    async (trx) => await setHeld(held.id, true).execute(trx)
  )
  t.same(await held.left(), everything)
  t.match(await deps.erasure.verify(held.ben), { left: {}, kept: 4 })
  await setHeld(held.id, false).execute(db)
  await purgeCases(deps)
  t.same(await held.left(), nothing)

  const proposed = await givenOldCase()
  await holdBefore(async () => await erase(proposed.ben), propose(proposed.id))
  t.same(await proposed.left(), everything)
  await withdraw(proposed.id)
  await purgeCases(deps)
  t.same(await proposed.left(), nothing)
  t.match(await deps.erasure.verify(proposed.ben), { left: {}, kept: 0 })
})

t.test('a hold that comes after the purge began finds no case, also if the purge crashed', async (t) => {
  const { id, left } = await givenOldCase()
  let crash = () => {}
  const media = {
    ...deps.media,
    remove: async () => await new Promise<never>((_resolve, reject) => crash = () => reject(new Error('killed')))
  }
  const isRemoving = crash
  const purging = purgeCases({ db, media })
  await until(async () => crash !== isRemoving)
  t.match(await send(`cases/${id}/hold`), { status: 404 })
  const fourEyes = deps.fourEyes as Set<string>
  fourEyes.add('HOLD')
  t.teardown(() => fourEyes.delete('HOLD'))
  t.match(await send(`cases/${id}/hold`), { status: 404 })
  crash()
  await t.rejects(purging, { message: 'killed' })
  t.match(await send(`cases/${id}/hold`), { status: 404 })
  await purgeCases(deps)
  t.same(await left(), nothing)
})

t.test('a hold that comes after the erasure began waits for it, and finds no case', async (t) => {
  const { id, ben, left } = await givenOldCase()
  let erasing: Promise<unknown> | undefined
  let holding: ReturnType<typeof send> | undefined
  await db.transaction().execute(async (trx) => {
    // The erasure comes to this row after it has marked the case.
    await sql`select from case_evidence where case_id = ${id} for update`.execute(trx)
    erasing = erase(ben)
    await until(async () => await countWaiting() === 1)
    holding = send(`cases/${id}/hold`)
    await until(async () => await countWaiting() === 2)
  })
  await erasing
  t.match(await holding, { status: 404 })
  t.same(await left(), nothing)
})
