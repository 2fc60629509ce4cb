import t from 'tap'
import { testApp } from '../test/app.ts'
import { realtimeOf } from '../test/realtime.ts'

const fixture = await testApp(t)
const { get, member, createMatch } = fixture
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
