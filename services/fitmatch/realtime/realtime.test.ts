import { sql } from 'kysely'
import t from 'tap'
import { testApp } from '../test/app.ts'
import { realtimeOf } from '../test/realtime.ts'
import { selectDetails } from './queries.ts'

const fixture = await testApp(t)
const { db, get, member, createMatch } = fixture
const { describe, someChat } = realtimeOf(fixture)

t.test('a message looks like that of the chat, to each of the two', async (t) => {
  const { ana, ben, matchId, messageId } = await someChat()
  for (const { id } of [ana, ben]) {
    const { data } = await get(id, `/fitmatch/chat/${matchId}?markRead=false`)
    const details = await describe(id, matchId, messageId)
    t.strictSame(JSON.parse(JSON.stringify(details?.message)), data.messages[0])
    t.equal(details?.clientMessageId, id === ben.id ? 'c1' : null)
  }
  t.match(await describe(ana.id, matchId), { message: null, chatUnreadCount: 1 })
  t.match(await describe(ben.id, matchId), { message: null, chatUnreadCount: 0 })
})

t.test('a new match looks like that in the list of matches', async (t) => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  const matchId = await createMatch(ana, ben)
  const { data } = await get(ana.id, '/fitmatch/matches?type=new')
  t.strictSame(JSON.parse(JSON.stringify((await describe(ana.id, matchId))?.match)), data.newMatches[0])
})

t.test('the unread messages of a chat are counted once for all of its frames', async (t) => {
  const { ana, ben, matchId } = await someChat()
  const { rows } = await sql<{ id: string }>`
    insert into messages (match_id, sender_id, content, created_at)
    select ${matchId}, ${ben.id}, 'x', now() + number * interval '1 millisecond' from generate_series(1, 20000) number
    returning id`.execute(db)
  await sql`vacuum (analyze) messages`.execute(db)
  const items = rows.slice(0, 50).map(({ id }) => ({ accountId: ana.id, matchId, messageId: id }))
  t.equal((await describe(ana.id, matchId, rows[0]!.id))?.chatUnreadCount, 20_001)
  const blocksRead = async (count: number) => {
    const { rows: [explained] } = await sql<{ 'QUERY PLAN': [{ Plan: { 'Shared Hit Blocks': number } }] }>`
      explain (analyze, buffers, format json) ${selectDetails(items.slice(0, count))}`.execute(db)
    return explained!['QUERY PLAN'][0].Plan['Shared Hit Blocks']
  }
  const [one, fifty] = [await blocksRead(1), await blocksRead(50)]
  t.ok(fifty < one + 50 * 20, `${one} blocks of 8 KiB for one, ${fifty} for fifty`)
})
