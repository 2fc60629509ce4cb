import { randomUUID } from 'node:crypto'
import t from 'tap'
import { RealtimeDetails } from '@tandem/contracts'
import { inParallel, testApp, type Member } from '../test/app.ts'

const { post, put, del, operator, get, member, createMatch, rpcHandlers, ephemeral } = await testApp(t)

type Details = { match: object, message: Record<string, unknown> | null, clientMessageId: string | null } | null

async function describe (accountId: string, matchId: string, messageId: string | null = null) {
  const handler = rpcHandlers.find(({ rpc }) => rpc === RealtimeDetails)!
  const [details] = await handler.handle({ items: [{ accountId, matchId, messageId }] }) as Details[]
  return details ?? null
}

async function chatOf (ana: Member, ben: Member) {
  const matchId = await createMatch(ana, ben)
  const { data } = await post(ben.id, `/fitmatch/chat/${matchId}/messages`, {
    content: 'secret',
    clientMessageId: 'c1'
  })
  return { matchId, messageId: data.message.id as string }
}

const someChat = async () => {
  const [ana, ben] = [await member('Ana'), await member('Ben')]
  return { ana, ben, ...await chatOf(ana, ben) }
}

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

const hides: Record<string, (chat: Awaited<ReturnType<typeof someChat>>) => Promise<unknown>> = {
  'the reader has blocked the other': async ({ ana, ben }) =>
    await post(ana.id, '/fitmatch/block', { blockedProfileId: ben.profileId }),
  'the other has blocked the reader': async ({ ana, ben }) =>
    await post(ben.id, '/fitmatch/block', { blockedProfileId: ana.profileId }),
  'the match has ended': async ({ ana, matchId }) => await del(ana.id, `/fitmatch/chat/${matchId}`)
}

for (const [name, hide] of Object.entries(hides)) {
  t.test(`nothing is described when ${name}`, async (t) => {
    const chat = await someChat()
    await hide(chat)
    for (const { id } of [chat.ana, chat.ben]) {
      t.equal(await describe(id, chat.matchId, chat.messageId), null)
      t.equal(await describe(id, chat.matchId), null)
    }
  })
}

t.test('a paused profile stays visible to its matches, as in the chat', async (t) => {
  const { ana, ben, matchId, messageId } = await someChat()
  await put(ben.id, '/fitmatch/settings', { status: 'PAUSED' })
  t.match(await describe(ana.id, matchId, messageId), { message: { content: 'secret' } })
})

t.test('a suspended profile sees nothing, and nobody sees it', async (t) => {
  const { ana, ben, matchId, messageId } = await someChat()
  const { data } = await post(ana.id, '/fitmatch/report', { reportedProfileId: ben.profileId, reason: 'SPAM' })
  await operator('POST', `/fitmatch/admin/reports/${data.report.id}/resolve`, { action: 'SUSPEND' })
  const isSuspended = (await get(ben.id, `/fitmatch/chat/${matchId}`)).status !== 200
  t.equal(isSuspended, true)
  for (const { id } of [ana, ben]) t.equal(await describe(id, matchId, messageId), null)
})

t.test('unknown callers, and ids that belong elsewhere, get nothing', async (t) => {
  const [one, other] = [await someChat(), await someChat()]
  t.equal(await describe(randomUUID(), one.matchId, one.messageId), null)
  t.equal(await describe(other.ana.id, one.matchId, one.messageId), null)
  t.equal(await describe(one.ana.id, one.matchId, other.messageId), null)
  t.equal(await describe(one.ana.id, randomUUID()), null)
})

t.test('after the 200 of a block no text is described, whatever runs at the same time', async (t) => {
  await inParallel(20, async () => {
    const chat = await someChat()
    let isBlocked = false
    const reads = inParallel(5, async () => {
      const wasBlocked = isBlocked
      const details = await describe(chat.ana.id, chat.matchId, chat.messageId)
      if (wasBlocked && details) t.fail('a text after the block')
    })
    await post(chat.ben.id, '/fitmatch/block', { blockedProfileId: chat.ana.profileId })
    isBlocked = true
    t.equal(await describe(chat.ana.id, chat.matchId, chat.messageId), null)
    await reads
  })
})

t.test('typing reaches the other person of a standing match, and nobody else', async (t) => {
  const { ana, ben, matchId } = await someChat()
  const stranger = await member('Cleo')
  const type = async (account: Member, isTyping = true) =>
    (await post(account.id, `/fitmatch/chat/${matchId}/typing`, { isTyping })).status
  ephemeral.length = 0
  t.equal(await type(ana), 200)
  t.equal(await type(ana, false), 200)
  t.match(ephemeral, [
    { to: ben.id, frame: { type: 'chat.typing', data: { matchId, isTyping: true } } },
    { to: ben.id, frame: { type: 'chat.typing', data: { matchId, isTyping: false } } }
  ])
  t.strictSame(Object.keys(ephemeral[0]!.frame.data as object).sort(), ['isTyping', 'matchId'])
  ephemeral.length = 0
  t.equal(await type(stranger), 404)
  await post(ben.id, '/fitmatch/block', { blockedProfileId: ana.profileId })
  t.equal(await type(ana), 404)
  t.equal(await type(ben), 404)
  t.strictSame(ephemeral, [])
})
