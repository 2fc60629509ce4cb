import { randomUUID } from 'node:crypto'
import t from 'tap'
import { inParallel, testApp, type Member } from '../test/app.ts'
import { realtimeOf, type Chat } from '../test/realtime.ts'

const fixture = await testApp(t)
const { post, put, del, operator, ephemeral, member } = fixture
const { describe, presenceOf, someChat } = realtimeOf(fixture)

/** What a realtime connection can carry from one person of a chat to the other. */
const doors: Record<string, (reader: Member, writer: Member, chat: Chat) => Promise<boolean>> = {
  'the text of a message': async ({ id }, _, { matchId, messageId }) =>
    (await describe(id, matchId, messageId))?.message?.['content'] === 'secret',
  'a match': async ({ id }, _, { matchId }) => await describe(id, matchId) !== null,
  'presence': async ({ id }, _, { matchId }) => await presenceOf(id, matchId) !== undefined,
  'typing': async (reader, writer, { matchId }) => {
    ephemeral.length = 0
    await post(writer.id, `/fitmatch/chat/${matchId}/typing`, { isTyping: true })
    return ephemeral.some(({ to, frame }) => to === reader.id && frame.type === 'chat.typing')
  }
}

async function suspend (reporter: Member, reported: Member) {
  const { data } = await post(reporter.id, '/fitmatch/report', {
    reportedProfileId: reported.profileId,
    reason: 'SPAM'
  })
  const { status } = await operator('POST', `/fitmatch/admin/reports/${data.report.id}/resolve`, { action: 'SUSPEND' })
  if (status !== 200) throw new Error(`the suspension failed with ${status}`)
}

/** What can happen between two people, and whether each door stays open for Ana and for Ben. */
const situations: Record<string, { open: boolean, change: (chat: Chat) => Promise<unknown> }> = {
  'they are matched': { open: true, change: async () => {} },
  'Ben has paused': {
    open: true,
    change: async ({ ben }) => await put(ben.id, '/fitmatch/settings', { status: 'PAUSED' })
  },
  'the match has ended': {
    open: false,
    change: async ({ ana, matchId }) => await del(ana.id, `/fitmatch/chat/${matchId}`)
  },
  'Ana has blocked Ben': {
    open: false,
    change: async ({ ana, ben }) => await post(ana.id, '/fitmatch/block', { blockedProfileId: ben.profileId })
  },
  'Ben has blocked Ana': {
    open: false,
    change: async ({ ana, ben }) => await post(ben.id, '/fitmatch/block', { blockedProfileId: ana.profileId })
  },
  'Ben is suspended': { open: false, change: async ({ ana, ben }) => await suspend(ana, ben) },
  'Ana is suspended': { open: false, change: async ({ ana, ben }) => await suspend(ben, ana) },
  'Ben has deleted their profile': {
    open: false,
    change: async ({ ben }) => await del(ben.id, '/fitmatch/profile')
  }
}

for (const [situation, { open, change }] of Object.entries(situations)) {
  t.test(`${situation}: ${open ? 'every' : 'no'} frame about the other is sent`, async (t) => {
    const chat = await someChat()
    await change(chat)
    for (const [name, opensFor] of Object.entries(doors)) {
      t.equal(await opensFor(chat.ana, chat.ben, chat), open, `${name} of Ben, to Ana`)
      t.equal(await opensFor(chat.ben, chat.ana, chat), open, `${name} of Ana, to Ben`)
    }
  })
}

t.test('other people, accounts without a profile and unknown matches get nothing', async (t) => {
  const [chat, other] = [await someChat(), await someChat()]
  const nobody = { id: randomUUID(), profileId: randomUUID() }
  for (const [name, opensFor] of Object.entries(doors)) {
    for (const reader of [other.ana, nobody]) t.equal(await opensFor(reader, chat.ben, chat), false, name)
    t.equal(await opensFor(chat.ana, chat.ben, { ...chat, matchId: randomUUID() }), false, name)
  }
  t.equal(await describe(chat.ana.id, chat.matchId, other.messageId), null, 'a message of another chat')
})

t.test('presence is what the profile shows, and no more exact than five minutes', async (t) => {
  const { ana, ben, matchId } = await someChat()
  const setLastActive = (at: Date) =>
    fixture.db.updateTable('activity').set({ last_active_at: at }).where('account_id', '=', ben.id)
      .execute()
  t.match(await presenceOf(ana.id, matchId), { matchId, isOnline: true, lastActiveAt: String })
  t.strictSame(Object.keys((await presenceOf(ana.id, matchId))!).sort(), ['isOnline', 'lastActiveAt', 'matchId'])
  await setLastActive(new Date('2026-01-31T09:04:59Z'))
  t.strictSame(await presenceOf(ana.id, matchId), {
    matchId,
    isOnline: false,
    lastActiveAt: '2026-01-31T09:00:00.000Z'
  })
  await setLastActive(new Date())
  await put(ben.id, '/fitmatch/settings', { showLastActive: false })
  t.match(await presenceOf(ana.id, matchId), { isOnline: true, lastActiveAt: null })
  await put(ben.id, '/fitmatch/settings', { showOnlineStatus: false })
  t.match(await presenceOf(ana.id, matchId), { isOnline: false, lastActiveAt: null })
})

t.test('each item of a presence call needs a token of its own', async (t) => {
  const { readPresence, tokenOf } = realtimeOf(fixture)
  const { ana, ben, matchId } = await someChat()
  const matchIds = [matchId]
  t.match(
    await readPresence([
      { token: 'forged', matchIds },
      { token: tokenOf(ana.id, { expiresInSeconds: -60 }), matchIds },
      { token: tokenOf((await member('Cleo')).id), matchIds },
      { token: tokenOf(ben.id), matchIds }
    ]),
    [
      { code: 'INVALID_ACCESS_TOKEN' },
      { code: 'INVALID_ACCESS_TOKEN' },
      { presence: [] },
      { presence: [{ matchId }] }
    ]
  )
})

t.test('an open connection shows its person as online, if they have a profile', async (t) => {
  const { ana, ben, matchId } = await someChat()
  await fixture.db.updateTable('activity').set({ last_active_at: new Date(0) }).where('account_id', '=', ben.id)
    .execute()
  t.match(await presenceOf(ana.id, matchId), { isOnline: false })
  await presenceOf(ben.id, matchId)
  t.match(await presenceOf(ana.id, matchId), { isOnline: true })
  const nobody = randomUUID()
  await presenceOf(nobody, matchId)
  t.equal((await fixture.db.selectFrom('activity').where('account_id', '=', nobody).selectAll().execute()).length, 0)
})

t.test('typing is sent once a second, and a stop at once', async (t) => {
  const { ana, ben, matchId } = await someChat()
  const type = async (isTyping: boolean) => await post(ana.id, `/fitmatch/chat/${matchId}/typing`, { isTyping })
  ephemeral.length = 0
  await inParallel(10, async () => await type(true))
  t.match(ephemeral, [{ to: ben.id, frame: { type: 'chat.typing', data: { matchId, isTyping: true } } }])
  t.strictSame(Object.keys(ephemeral[0]!.frame.data as object).sort(), ['isTyping', 'matchId'])
  t.equal(ephemeral.length, 1)
  await fixture.db.updateTable('typing_indicators').set({ started_at: new Date(Date.now() - 1_100) })
    .where('match_id', '=', matchId).execute()
  await type(true)
  await type(false)
  t.strictSame(ephemeral.map(({ frame }) => (frame.data as { isTyping: boolean }).isTyping), [true, true, false])
})

t.test('200 races of a block against sending: what is read after the block has no text', async (t) => {
  await inParallel(10, async () => {
    for (let round = 0; round < 20; round++) {
      const chat = await someChat()
      let isBlocked = false
      const send = post(chat.ben.id, `/fitmatch/chat/${chat.matchId}/messages`, { content: 'secret' })
      const reads = inParallel(3, async () => {
        const wasBlocked = isBlocked
        const details = await describe(chat.ana.id, chat.matchId, chat.messageId)
        if (wasBlocked && details) t.fail('a text after the block')
      })
      await post(chat.ana.id, '/fitmatch/block', { blockedProfileId: chat.ben.profileId })
      isBlocked = true
      const { data } = await send
      const messageId = data?.message.id ?? chat.messageId
      ephemeral.length = 0
      for (const [name, opensFor] of Object.entries(doors)) {
        if (await opensFor(chat.ana, chat.ben, { ...chat, messageId })) t.fail(name)
      }
      await reads
    }
  })
  t.pass('no text, match, presence or typing')
})
