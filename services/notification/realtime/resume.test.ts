import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import t from 'tap'
import { bearer } from '@tandem/http-kit/testing'
import { runConcurrently } from '@tandem/test-kit'
import { deleteExpired } from '../housekeeping.ts'
import { testApp } from '../test/app.ts'
import { details, feedOf, insertComments, someMessage, tell } from '../test/realtime.ts'

const { reset } = await testApp(t)

t.test('a position resumes up to 200 frames behind, in pages, and no further', async (t) => {
  const app = reset()
  const { read } = feedOf(app)
  const ana = await app.person('Ana')
  const start = (await read(ana)).position
  await tell(app, ana, 2)
  const one = (await read(ana, start)).position
  await runConcurrently(Array.from({ length: 200 }, (_, number) => async () => await tell(app, ana, number + 3)), 8)

  const seen: string[] = []
  let page = await read(ana, one)
  t.equal(page.resumed, true, '200 behind')
  for (;;) {
    seen.push(...page.frames.map(({ id = '' }) => id))
    if (!page.more) break
    page = await read(ana, page.position)
  }
  t.equal(seen.length, 200)
  t.strictSame(
    seen.map((id) => Number(id.split('-')[1])),
    seen.map((id) => Number(id.split('-')[1])).sort((a, b) => a - b)
  )
  t.match(await read(ana, start), { resumed: false, frames: { length: 0 } }, '201 behind')
  t.match(await read(ana, seen.at(-2)), { resumed: true, frames: [{ id: seen.at(-1) }] }, 'one behind')
  t.match(await read(ana, page.position), { resumed: true, frames: { length: 0 } }, 'nothing behind')

  const [epoch, seq] = page.position.split('-')
  for (
    const after of [
      `${'0'.repeat(16)}-${seq}`,
      `${epoch}-${Number(seq) + 1}`,
      'garbage',
      '',
      (await read(randomUUID())).position
    ]
  ) t.match(await read(ana, after), { resumed: false, frames: { length: 0 } }, after)
})

t.test('a page has at most 64 KiB, in whatever script its texts are', async (t) => {
  const app = reset()
  const { read } = feedOf(app)
  const [ana, ben] = [await app.person('Ana'), await app.person('Ben')]
  const { position } = await read(ana)
  app.neighbours.details = ({ matchId, messageId }) => {
    const found = details(matchId, messageId, ben)
    return { ...found, message: { ...found.message!, content: '走'.repeat(1_000) } }
  }
  for (let number = 0; number < 40; number++) {
    await app.receive('fitmatch.message.sent.v1', someMessage(ben, ana).event)
  }
  const seen: string[] = []
  for (let page = await read(ana, position);; page = await read(ana, page.position)) {
    const bytes = page.frames.map((frame) => Buffer.byteLength(JSON.stringify(frame)))
    t.ok(bytes.reduce((sum, each) => sum + each, 0) <= 64 * 1024, `${bytes.length} frames`)
    seen.push(...page.frames.map(({ id = '' }) => id))
    if (!page.more) break
  }
  t.equal(new Set(seen).size, 40)
})

t.test('what is removed at once is reported in frames that fit into a page', async (t) => {
  const app = reset()
  const { read } = feedOf(app)
  const [ana, postId] = [await app.person('Ana'), randomUUID()]
  const { position } = await read(ana)
  await insertComments(app.db, { accountId: ana, postId, count: 1_200 })
  await app.receive('social.post.deleted.v1', { postId, authorId: ana })
  const { frames } = await read(ana, position)
  const removed = frames.map(({ data }) => (data as { removedIds: string[] }).removedIds)
  t.strictSame(removed.map(({ length }) => length), [500, 500, 200])
  t.equal(new Set(removed.flat()).size, 1_200)
})

t.test('a full inbox is counted once for a page, and holds nobody up', async (t) => {
  const app = reset()
  const { readAll, read } = feedOf(app)
  const ana = await app.person('Ana')
  const { position } = await read(ana)
  await insertComments(app.db, { accountId: ana, postId: randomUUID(), count: 30_000 })
  for (let number = 1; number <= 50; number++) await tell(app, ana, number)
  const token = bearer(ana).authorization.slice('Bearer '.length)
  const pages = await readAll(Array.from({ length: 10 }, () => ({ token, after: position })))
  t.match(pages, Array(10).fill({ resumed: true, frames: { length: 50 }, unreadCount: 10_000 }))
})

t.test('a log that was not read for a day starts again, and expired frames are not resumed over', async (t) => {
  const app = reset()
  const { read } = feedOf(app)
  const ana = await app.person('Ana')
  const { position } = await read(ana)
  await tell(app, ana, 2)
  await sql`update realtime_frames set at = now() - interval '25 hours' where account_id = ${ana}`.execute(app.db)
  await deleteExpired(app.db)
  t.match(await read(ana, position), { resumed: false }, 'the frame has expired')

  const current = (await read(ana)).position
  await sql`update inboxes set realtime_until = now() - interval '1 second' where account_id = ${ana}`
    .execute(app.db)
  await tell(app, ana, 3)
  const lapsed = await read(ana, current)
  t.match(lapsed, { resumed: false, frames: { length: 0 } })
  t.not(lapsed.position.split('-')[0], current.split('-')[0], 'a new epoch')
})

t.test('positions from before a restore are not resumed, once the script of the runbook has run', async (t) => {
  const app = reset()
  const { read } = feedOf(app)
  const ana = await app.person('Ana')
  await read(ana)
  const script = readFileSync(new URL('../../../deploy/docker/restore-schemas.sh', import.meta.url), 'utf8')
  const [statement = ''] = /update notification\.inboxes set [^;]+/.exec(script) ?? []
  await tell(app, ana, 2)
  const { position } = await read(ana)
  // The backup is older than the frame.
  await sql`delete from realtime_frames where account_id = ${ana}`.execute(app.db)
  await sql`update inboxes set realtime_seq = 0 where account_id = ${ana}`.execute(app.db)
  await sql.raw(statement.replace('notification.', '')).execute(app.db)
  await tell(app, ana, 3)
  await tell(app, ana, 4)
  const restored = await read(ana, position)
  t.match(restored, { resumed: false, frames: { length: 0 } })
  await tell(app, ana, 5)
  t.equal((await read(ana, restored.position)).frames.length, 1)
})
