import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import t from 'tap'
import { MatchEnded, MessageSent, MessagesRead } from '@tandem/contracts'
import { createPng } from '@tandem/media-kit/testing'
import { until } from '@tandem/test-kit'
import { inParallel, testApp, type Member } from '../test/app.ts'
import { listHistory, listSince } from './queries.ts'

interface ShownMessage {
  id: string
  content: string
  createdAt: string
  isMine: boolean
  readAt: string | null
}

t.test('a chat', async (t) => {
  const { get, post, postOnce, put, del, member, createMatch, swipe, publishedEvents, db, folder } = await testApp(t)
  const pair = async () => {
    const [ana, ben] = await Promise.all([member('Ana'), member('Ben')]) as [Member, Member]
    const matchId = await createMatch(ana, ben)
    const url = `/fitmatch/chat/${matchId}`
    return {
      ana,
      ben,
      matchId,
      url,
      write: (who: Member, content: string, more: object = {}) => post(who.id, `${url}/messages`, { content, ...more })
    }
  }
  const unreadOf = async (who: Member, matchId: string) =>
    (await get(who.id, '/fitmatch/matches')).data.conversations.find((each: { matchId: string }) =>
      each.matchId === matchId
    )?.unreadCount
  const contents = ({ data }: { data: { messages: ShownMessage[] } }) => data.messages.map(({ content }) => content)

  t.test('starts with a match and contains the messages of both', async (t) => {
    const { ana, ben, matchId, url, write } = await pair()
    t.match((await get(ana.id, '/fitmatch/matches')).data, {
      newMatches: [{
        matchId,
        matchType: 'LIKE',
        matchedAt: String,
        profile: { id: ben.profileId, displayName: 'Ben', age: 31, photos: [{ url: String, isMain: true }, {}] }
      }],
      conversations: [],
      totalMatches: 1
    })
    const sent = await write(ana, ' Hi ')
    t.match(sent, {
      status: 201,
      data: { message: { matchId, senderId: ana.profileId, isMine: true, content: 'Hi', imageUrl: null, readAt: null } }
    })
    t.strictSame(Object.keys(sent.data.message).sort(), [
      'content',
      'createdAt',
      'id',
      'image',
      'imageUrl',
      'isMine',
      'matchId',
      'readAt',
      'senderId'
    ])
    t.match(await publishedEvents(MessageSent), [{
      matchId,
      messageId: sent.data.message.id,
      senderId: ana.id,
      senderName: 'Ana',
      recipientId: ben.id,
      hasImage: false
    }])
    t.match((await get(ben.id, '/fitmatch/matches')).data, {
      newMatches: [],
      totalMatches: 1,
      conversations: [{
        matchId,
        profile: { displayName: 'Ana' },
        lastMessage: { content: 'Hi', createdAt: String, isMine: false },
        unreadCount: 1
      }]
    })
    t.match((await get(ben.id, '/fitmatch/matches?type=new')).data, {
      newMatches: [],
      conversations: [],
      totalMatches: 1
    })
    t.match((await get(ben.id, '/fitmatch/matches?type=conversations')).data, { newMatches: [], conversations: [{}] })
    t.match((await get(ben.id, '/fitmatch/matches?type=')).data, { conversations: [{}] })
    t.match(await get(ben.id, '/fitmatch/matches?type=old'), { status: 400, code: 'VALIDATION_ERROR' })

    t.match((await get(ben.id, `${url}?markRead=false`)).data, {
      messages: [{ content: 'Hi', isMine: false, readAt: null }],
      nextCursor: null,
      isTyping: false
    })
    t.equal(await unreadOf(ben, matchId), 1)
    t.match((await get(ben.id, url)).data, { messages: [{ readAt: String }] })
    t.equal(await unreadOf(ben, matchId), 0)
    t.match((await get(ana.id, url)).data, { messages: [{ content: 'Hi', isMine: true, readAt: String }] })
    const { data: { message: { id: more } } } = await write(ana, 'More')
    t.match(await post(ben.id, `${url}/read`), { status: 200, success: true, message: String })
    t.equal(await unreadOf(ben, matchId), 0)
    await post(ben.id, `${url}/read`)
    t.strictSame(await publishedEvents(MessagesRead), [{
      matchId,
      readerId: ben.id,
      senderId: ana.id,
      messageIds: [sent.data.message.id]
    }, { matchId, readerId: ben.id, senderId: ana.id, messageIds: [more] }], 'each published once')
  })

  t.test('publishes in batches that very many messages were read', async (t) => {
    const { ana, ben, matchId, url } = await pair()
    const startedAt = Date.now()
    await sql`
      insert into messages (match_id, sender_id, content, created_at)
      select ${matchId}, ${ana.id}, 'Hi', ${new Date(startedAt)}::timestamptz + turn * interval '1 millisecond'
      from generate_series(1, 4501) turn`.execute(db)
    await post(ben.id, `${url}/read`)
    const batches = (await publishedEvents(MessagesRead)).filter((each) => each.matchId === matchId).map((
      { messageIds }
    ) => messageIds as string[])
    t.strictSame(new Set(batches.map(({ length }) => length)), new Set([500, 1]))
    t.equal(new Set(batches.flat()).size, 4_501)
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from messages where match_id = ${matchId} group by xmin::text order by 1`
      .execute(db)
    t.strictSame(rows.map(({ count }) => count), [501, 2_000, 2_000], 'no transaction is long')
  })

  t.test('accepts images and re-encodes them', async (t) => {
    const { ana, ben, matchId, url } = await pair()
    const image = { base64: createPng(200, 100).toString('base64'), mimeType: 'image/png' }
    t.match(await post(ana.id, `${url}/messages`, { image }), {
      status: 201,
      data: {
        message: {
          content: null,
          imageUrl: /^https:\/\/cdn\.example\/own\/private\/[0-9a-f-]{36}\.webp\?expires=\d+&signature=[\w-]+$/
        }
      }
    })
    t.match(await post(ana.id, `${url}/messages`, { image, content: 'Look' }), {
      status: 201,
      data: { message: { content: 'Look', imageUrl: String } }
    })
    t.match((await get(ben.id, '/fitmatch/matches')).data.conversations, [{
      matchId,
      lastMessage: { content: 'Look', imageUrl: String },
      unreadCount: 2
    }])
    const { messages } = (await get(ben.id, url)).data
    t.match(messages[0].image, {
      type: 'IMAGE',
      url: messages[0].imageUrl,
      width: 200,
      height: 100,
      blurhash: String,
      thumbnails: [{ url: `${messages[0].imageUrl}&w=160`, width: 160, height: 80 }]
    })
    t.match((await publishedEvents(MessageSent)).at(-1), { hasImage: true })
    const bad = [
      [{ base64: 'not base64!', mimeType: 'image/png' }, 400, 'VALIDATION_ERROR'],
      [{ base64: image.base64, mimeType: 'image/jpeg' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
      [{ base64: Buffer.from('no image').toString('base64'), mimeType: 'image/png' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
      [
        { base64: Buffer.alloc(5 * 1024 * 1024 + 1).toString('base64'), mimeType: 'image/png' },
        413,
        'PAYLOAD_TOO_LARGE'
      ],
      [{ base64: image.base64 }, 400, 'VALIDATION_ERROR'],
      [{ base64: 'A'.repeat(7.3 * 1024 * 1024), mimeType: 'image/png' }, 413, 'PAYLOAD_TOO_LARGE']
    ] as const
    for (const [each, status, code] of bad) {
      t.match(await post(ana.id, `${url}/messages`, { image: each }), { status, code })
    }
    t.match(
      await put(ana.id, '/fitmatch/settings', { showDistance: true, x: 'x'.repeat(70_000) }),
      { status: 413 },
      'no other route accepts a body of this size'
    )
  })

  t.test('an account sends at most 500 MB of images a day', async (t) => {
    const { ana, url } = await pair()
    const image = { base64: createPng(20, 10).toString('base64'), mimeType: 'image/png' }
    t.match(await post(ana.id, `${url}/messages`, { image }), { status: 201 })
    await db.updateTable('daily_quotas').where('account_id', '=', ana.id).where('name', '=', 'chat image bytes')
      .set({ used: 500 * 1024 * 1024 - 64 * 1024 }).execute()
    const results = await Promise.all([1, 2, 3].map(async () => await post(ana.id, `${url}/messages`, { image })))
    t.same(results.map(({ status }) => String(status)).sort(), ['201', '429', '429'])
    t.match(results.find(({ status }) => status === 429), {
      code: 'LIMIT_EXCEEDED',
      error: /500 MB of images.*tomorrow/
    })
    t.match(await post(ana.id, `${url}/messages`, { content: 'Hi' }), { status: 201 }, 'text still goes')
  })

  t.test('accepts base64 as phones write it', async (t) => {
    const { ana, url } = await pair()
    const png = createPng(30, 30)
    const base64 = png.toString('base64')
    t.match(base64, /\+.*=$/, 'contains what the variants differ in')
    const variants = {
      'in lines, with a trailing newline': base64.replace(/.{76}/g, '$&\n') + '\n',
      'in lines as in mails': base64.replace(/.{64}/g, '$&\r\n'),
      'without padding': base64.replace(/=+$/, ''),
      'in the URL-safe alphabet': png.toString('base64url'),
      'as a data URL': `data:image/png;base64,${base64}`
    }
    for (const [variant, base64] of Object.entries(variants)) {
      t.match(
        await post(ana.id, `${url}/messages`, { image: { base64, mimeType: 'image/png' } }),
        { status: 201 },
        variant
      )
    }
  })

  t.test('rejects empty and too long messages', async (t) => {
    const { ana, write, url } = await pair()
    t.match(await write(ana, 'x'.repeat(1000)), { status: 201 })
    for (const body of [{}, { content: ' ' }, { content: 'x'.repeat(1001) }, { content: 5 }]) {
      t.match(await post(ana.id, `${url}/messages`, body), { status: 400, code: 'VALIDATION_ERROR' })
    }
    for (const query of ['limit=0', 'limit=101', `cursor=${randomUUID()}`, 'cursor=garbage']) {
      t.match(await get(ana.id, `${url}?${query}`), { status: 400, code: 'VALIDATION_ERROR' }, query)
    }
    for (const query of ['after=yesterday', `afterId=${randomUUID()}`]) {
      t.match(await get(ana.id, `${url}/messages?${query}`), { status: 400, code: 'VALIDATION_ERROR' }, query)
    }
  })

  t.test('stores a retried message once', async (t) => {
    const { ana, ben, write, url } = await pair()
    const responses = await inParallel(10, () => write(ana, 'Hi', { clientMessageId: 'a1' }))
    t.ok(responses.every(({ status }) => status === 201))
    t.equal(new Set(responses.map(({ data }) => data.message.id)).size, 1)
    t.match(await write(ben, 'Hi too', { clientMessageId: 'a1' }), {
      status: 201,
      data: { message: { content: 'Hi too' } }
    })
    t.strictSame(contents(await get(ana.id, url)), ['Hi', 'Hi too'])
    t.match(await db.selectFrom('message_quota').where('account_id', '=', ana.id).select('used').executeTakeFirst(), {
      used: 1
    })
  })

  t.test('stores a retried message once while both wait for the chat', async (t) => {
    const { ana, matchId, write } = await pair()
    const waiting = await db.transaction().execute(async (trx) => {
      await trx.selectFrom('matches').where('id', '=', matchId).select('id').forUpdate().execute()
      const started = inParallel(2, () => write(ana, 'Hi', { clientMessageId: 'a1' }))
      // So the snapshot of each is older than the message of the other.
      await until(async () => {
        const { rows } = await sql`select from pg_locks where not granted and locktype in ('tuple', 'transactionid')
          and pid in (select pid from pg_stat_activity where query like '%as "ownName"%')`.execute(db)
        return rows.length === 2
      })
      return { started }
    })
    const responses = await waiting.started
    t.strictSame(responses.map(({ status }) => status), [201, 201])
    t.equal(new Set(responses.map(({ data }) => JSON.stringify(data.message))).size, 1)
    t.match(await db.selectFrom('message_quota').where('account_id', '=', ana.id).select('used').executeTakeFirst(), {
      used: 1
    })
    t.equal((await publishedEvents(MessageSent)).filter((each) => each.matchId === matchId).length, 1)
  })

  t.test('refuses what suspended people write', async (t) => {
    const { ana, ben, url, write } = await pair()
    await write(ana, 'Hi', { clientMessageId: 'a1' })
    await db.updateTable('profiles').set({ suspended: true }).where('account_id', '=', ana.id).execute()
    const refused = { status: 403, code: 'PROFILE_SUSPENDED' }
    t.match(await write(ana, 'Hi', { clientMessageId: 'a1' }), refused)
    t.match(await post(ana.id, `${url}/typing`, { isTyping: true }), refused)
    t.match(await write(ben, 'Hi'), { status: 404, code: 'NOT_FOUND' })
    t.match(await post(ben.id, `${url}/typing`, { isTyping: true }), { status: 404, code: 'NOT_FOUND' })
    t.match(await post(randomUUID(), `${url}/typing`, { isTyping: true }), { status: 404, code: 'PROFILE_NOT_FOUND' })
  })

  t.test('stores a message once under an idempotency key, with or without an image', async (t) => {
    const before = (await readdir(path.join(folder, 'media/private'))).length
    const { ana, url } = await pair()
    const image = { base64: createPng().toString('base64'), mimeType: 'image/png' }
    for (const [key, body] of [['k1', { content: 'Hi' }], ['k2', { image }]] as const) {
      const responses = await inParallel(5, () => postOnce(ana.id, key, `${url}/messages`, body))
      t.ok(responses.every(({ status }) => status === 201))
      t.equal(new Set(responses.map(({ data }) => JSON.stringify(data.message))).size, 1)
    }
    t.match(await postOnce(ana.id, 'k1', `${url}/messages`, { content: 'Another' }), {
      status: 409,
      code: 'IDEMPOTENCY_CONFLICT'
    })
    const { data: { messages } } = await get(ana.id, url)
    t.match(messages, [{ content: 'Hi' }, { imageUrl: String }])
    t.equal(messages.length, 2)
    const kept = await readdir(path.join(folder, 'media/private'))
    t.ok(kept.includes(path.basename(new URL(messages[1].imageUrl).pathname)))
    t.equal(kept.length, before + 1, 'no image of a retry is left')
  })

  t.test('is read page by page, newest page first', async (t) => {
    const { ana, ben, matchId, url, write } = await pair()
    for (let turn = 1; turn <= 7; turn++) await write(turn % 2 ? ana : ben, String(turn))
    const first = await get(ana.id, `${url}?limit=3`)
    t.strictSame(contents(first), ['5', '6', '7'])
    t.strictSame(
      contents(await get(ana.id, `${url}?limit=3&cursor=`)),
      ['5', '6', '7'],
      'an empty cursor counts as no cursor'
    )
    const second = await get(ana.id, `${url}?limit=3&cursor=${first.data.nextCursor}`)
    t.strictSame(contents(second), ['2', '3', '4'])
    const third = await get(ana.id, `${url}?limit=3&cursor=${second.data.nextCursor}`)
    t.strictSame(contents(third), ['1'])
    t.equal(third.data.nextCursor, null)
    t.equal((await get(ana.id, `${url}?limit=7`)).data.nextCursor, null)

    const other = await pair()
    t.match(
      await get(other.ana.id, `${other.url}?cursor=${first.data.nextCursor}`),
      { status: 400 },
      'a cursor is valid in its own chat only'
    )
    t.match(await get(other.ana.id, `${other.url}/messages?afterId=${first.data.nextCursor}`), { status: 400 })
    t.equal(await unreadOf(ben, matchId), 4)
    const page = await get(ben.id, `${url}?limit=2&cursor=${first.data.messages[0].id}`)
    t.strictSame(contents(page), ['3', '4'])
    t.equal(await unreadOf(ben, matchId), 2, 'reading an older page does not mark newer messages as read')
  })

  t.test('can be polled without missing or repeating a message', async (t) => {
    const { ana, ben, url, write } = await pair()
    const first = (await write(ana, 'first')).data.message as ShownMessage
    const seen: Record<string, string[]> = { id: [], time: [] }
    let writing = true
    const poll = async (name: 'id' | 'time') => {
      let last = first
      const step = async () => {
        const query = name === 'id' ? `afterId=${last.id}` : `after=${encodeURIComponent(last.createdAt)}`
        const { data } = await get(ben.id, `${url}/messages?${query}&limit=5`)
        seen[name]?.push(...data.messages.map(({ id }: ShownMessage) => id))
        last = data.messages.at(-1) ?? last
        return data.messages.length as number
      }
      while (writing) await step()
      while (await step() > 0);
    }
    const polling = [poll('id'), poll('time')]
    const sent = await Promise.all([
      inParallel(30, (turn) => write(ana, `a${turn}`)),
      inParallel(30, (turn) => write(ben, `b${turn}`))
    ])
    writing = false
    await Promise.all(polling)
    const ids = sent.flat().map(({ data }) => data.message.id as string).sort()
    t.strictSame([...seen['id'] ?? []].sort(), ids)
    t.strictSame([...seen['time'] ?? []].sort(), ids)
    t.strictSame(contents(await get(ben.id, `${url}/messages?limit=1`)), ['first'])
  })

  t.test('accepts 60 messages per minute from each person', async (t) => {
    const { ana, ben, write } = await pair()
    const responses = await inParallel(70, (turn) => write(ana, String(turn)))
    t.equal(responses.filter(({ status }) => status === 201).length, 60)
    const refused = responses.find(({ status }) => status !== 201)
    t.match(refused, { status: 429, code: 'RATE_LIMITED' })
    t.ok(Number(refused?.headers['retry-after']) >= 1 && Number(refused?.headers['retry-after']) <= 60)
    t.match(await write(ben, 'Me'), { status: 201 })
    const minuteAgo = new Date(Date.now() - 60_000)
    await db.updateTable('message_quota').set({ window_started_at: minuteAgo }).where('account_id', '=', ana.id)
      .execute()
    t.match(await write(ana, 'Again'), { status: 201 })
  })

  t.test('shows for a few seconds that the other person is typing', async (t) => {
    const { ana, ben, matchId, url, write } = await pair()
    const isTyping = async (
      who: Member
    ) => [(await get(who.id, url)).data.isTyping, (await get(who.id, `${url}/messages`)).data.isTyping]
    t.match(await post(ana.id, `${url}/typing`, { isTyping: true }), { status: 200, message: String })
    t.strictSame(await isTyping(ben), [true, true])
    t.strictSame(await isTyping(ana), [false, false])
    await post(ana.id, `${url}/typing`, { isTyping: false })
    t.strictSame(await isTyping(ben), [false, false])
    await post(ana.id, `${url}/typing`, { isTyping: true })
    await db.updateTable('typing_indicators').set({ started_at: new Date(Date.now() - 6_500) }).where(
      'match_id',
      '=',
      matchId
    ).execute()
    t.strictSame(await isTyping(ben), [false, false])
    await post(ana.id, `${url}/typing`, { isTyping: true })
    await write(ana, 'Done')
    t.strictSame(await isTyping(ben), [false, false])
    t.match(await post(ana.id, `${url}/typing`, {}), { status: 400, code: 'VALIDATION_ERROR' })
  })

  t.test('is accessible to its two participants only', async (t) => {
    const { ana, url, write } = await pair()
    await write(ana, 'Secret')
    const eve = await member('Eve')
    const tries = [
      get(eve.id, url),
      get(eve.id, `${url}/messages`),
      post(eve.id, `${url}/messages`, { content: 'Hi' }),
      post(eve.id, `${url}/read`),
      post(eve.id, `${url}/typing`, { isTyping: true }),
      del(eve.id, url),
      get(eve.id, '/fitmatch/chat/garbage')
    ]
    for (const each of tries) t.match(await each, { status: 404, code: 'NOT_FOUND' })
    t.match(await get(randomUUID(), url), { status: 404, code: 'PROFILE_NOT_FOUND' })
  })

  t.test('is gone for both after unmatching, including messages sent at that moment', async (t) => {
    const { ana, ben, matchId, url, write } = await pair()
    await write(ana, 'Hi')
    const [ended] = await Promise.all([del(ben.id, url), inParallel(20, () => write(ana, 'Late'))])
    t.match(ended, { status: 200, success: true, message: String })
    for (const who of [ana, ben]) {
      t.match(await get(who.id, url), { status: 404, code: 'NOT_FOUND' })
      t.match((await get(who.id, '/fitmatch/matches')).data, { totalMatches: 0 })
    }
    t.match(await write(ana, 'Later'), { status: 404 })
    for (const who of [ana, ben]) {
      t.match(await get(who.id, `${url}/messages`), { status: 404 })
      t.match(await post(who.id, `${url}/read`), { status: 404 })
      t.match(await post(who.id, `${url}/typing`, { isTyping: true }), { status: 404 })
    }
    t.strictSame((await publishedEvents(MatchEnded)).filter((each) => each.matchId === matchId), [{
      matchId,
      accountIds: [ana.id, ben.id].toSorted()
    }])
    t.match(await del(ben.id, url), { status: 404 })
    t.notOk(
      (await get(ben.id, '/fitmatch/discover')).data.profiles.some(({ id }: { id: string }) => id === ana.profileId),
      'and the profile is not shown again'
    )
    t.match((await swipe(ana, ben)).data, { isMatch: false })
    t.match((await swipe(ben, ana)).data, { isMatch: true }, 'unless both swipe again')
  })

  t.test('shows nothing of a match that ends between the check and the read', async (t) => {
    const { ana, matchId, write } = await pair()
    await write(ana, 'Hi')
    t.match(await listHistory(db, ana.id, matchId, { limit: 20 }), { messages: [{ content: 'Hi' }] })
    await db.updateTable('matches').set({ ended_at: new Date() }).where('id', '=', matchId).execute()
    t.same(await listHistory(db, ana.id, matchId, { limit: 20 }), { messages: [], nextCursor: null })
    t.same(await listSince(db, ana.id, matchId, { limit: 20 }), [])
  })

  t.test('returns image URLs only to the two participants while they are matched', async (t) => {
    const { ana, ben, matchId, url } = await pair()
    const { data } = await post(ana.id, `${url}/messages`, {
      image: { base64: createPng().toString('base64'), mimeType: 'image/png' }
    })
    const { imageUrl } = data.message
    const everywhere = async () =>
      await Promise.all(
        [ana, ben].flatMap((
          who
        ) => [
          get(who.id, url),
          get(who.id, `${url}/messages`),
          get(who.id, '/fitmatch/matches'),
          get(who.id, '/fitmatch/report')
        ])
      )
    t.equal((await everywhere()).filter((each) => JSON.stringify(each).includes(imageUrl)).length, 6)

    const { profileId } = ben
    t.match(
      await post(ana.id, '/fitmatch/report', {
        reportedProfileId: profileId,
        reason: 'SPAM',
        evidence: [imageUrl, 'https://elsewhere.example/a.png']
      }),
      { status: 201, data: { report: { evidence: ['https://elsewhere.example/a.png'] } } }
    )
    await del(ben.id, `/fitmatch/chat/${matchId}`)
    t.notOk(
      JSON.stringify(await everywhere()).includes('/private/'),
      'nor does a report that contains the URL return it'
    )
  })
})
