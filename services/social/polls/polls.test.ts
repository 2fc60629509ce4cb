import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import t from 'tap'
import { givenPost, testApp } from '../test/app.ts'
import { parsePoll } from './actions.ts'

t.test('polls', async (t) => {
  const { db, get, post, del, person, profiles } = await testApp(t)
  const ana = await person('Ana')
  const ben = await person('Ben')
  const poll = { type: 'POLL', content: 'Hm', pollQuestion: 'When?', pollOptions: [{ text: 'Dawn' }, { text: 'Dusk' }] }
  const tomorrow = new Date(Date.now() + 86_400_000)

  t.test("a poll contains its votes and the caller's own vote", async (t) => {
    const { status, data } = await post(ana, '/feed', { ...poll, pollEndsAt: tomorrow.toISOString() })
    t.equal(status, 201)
    t.match(data.post.poll, {
      question: 'When?',
      options: [{ text: 'Dawn', votesCount: 0 }, { text: 'Dusk', votesCount: 0 }],
      totalVotes: 0,
      endsAt: tomorrow.toISOString(),
      myVote: null
    })
    const [dawn, dusk] = data.post.poll.options
    t.match(await post(ben, `/feed/${data.post.id}/vote`, { optionId: dusk.id }), {
      status: 200,
      data: { poll: { options: [{ votesCount: 0 }, { votesCount: 1 }], totalVotes: 1, myVote: dusk.id } }
    })
    t.match(await post(ben, `/feed/${data.post.id}/vote`, { optionId: dawn.id }), {
      status: 400,
      code: 'ALREADY_VOTED'
    })
    t.match((await get(ana, '/feed?type=POLL')).data.posts, [{ poll: { totalVotes: 1, myVote: null } }])
    t.match((await get(ben, `/feed/${data.post.id}`)).data.post.poll, { myVote: dusk.id })
  })

  t.test('each person votes once, also with concurrent requests', async (t) => {
    const { data: { post: { id, poll: { options } } } } = await post(ana, '/feed', poll)
    const voters = Array.from({ length: 5 }, () => randomUUID())
    const responses = await Promise.all(
      voters.flatMap((voter) =>
        Array.from({ length: 6 }, (_, index) => post(voter, `/feed/${id}/vote`, { optionId: options[index % 2].id }))
      )
    )
    t.equal(responses.filter(({ status }) => status === 200).length, 5)
    t.equal(responses.filter(({ code }) => code === 'ALREADY_VOTED').length, 25)
    const shown = (await get(ana, `/feed/${id}`)).data.post.poll
    t.equal(shown.totalVotes, 5)
    t.equal(shown.options[0].votesCount + shown.options[1].votesCount, 5)
  })

  t.test('a poll closes when it ends', async (t) => {
    const { data: { post: { id, poll: { options } } } } = await post(ana, '/feed', {
      ...poll,
      pollEndsAt: tomorrow.toISOString().slice(0, 10)
    })
    await db.updateTable('polls').where('post_id', '=', id).set({ ends_at: sql`now() - interval '1 second'` }).execute()
    t.match(await post(ben, `/feed/${id}/vote`, { optionId: options[0].id }), { status: 410, code: 'POLL_CLOSED' })
  })

  t.test("a poll that ends on a date lasts until the end of that day in the author's time zone", async (t) => {
    const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10)
    const next = new Date(Date.parse(day) + 86_400_000)
    for (const [timezone, offset] of [['Asia/Jakarta', 7], ['Pacific/Pago_Pago', -11], ['IST', 0]] as const) {
      const author = await person(timezone.slice(-5), { timezone })
      const { data } = await post(author, '/feed', { ...poll, pollEndsAt: day })
      t.same(new Date(data.post.poll.endsAt), new Date(next.getTime() - offset * 3_600_000), timezone)
    }
    const [today] = new Date(Date.now() + 7 * 3_600_000).toISOString().split('T')
    t.equal((await post(ana, '/feed', { ...poll, pollEndsAt: today })).status, 201, 'until tonight')
    profiles.isUnavailable = true
    t.equal((await post(ana, '/feed', { ...poll, pollEndsAt: today })).status, 201)
    profiles.isUnavailable = false
  })

  t.test('a poll can end on the date of today in a year, also after a leap day', async (t) => {
    const { now } = Date
    t.teardown(() => Object.assign(Date, { now }))
    Date.now = () => Date.parse('2027-03-01T00:00:00+07:00')
    const parse = async (pollEndsAt: string) =>
      await parsePoll({ content: 'When?', pollOptions: poll.pollOptions, pollEndsAt }, async () => 'Asia/Jakarta')
    t.same((await parse('2028-03-01')).endsAt, new Date('2028-03-02T00:00:00+07:00'))
    await t.rejects(parse('2028-03-02'), { code: 'VALIDATION_ERROR' })
    await t.rejects(parse('2028-03-02T00:00:01+07:00'), { code: 'VALIDATION_ERROR' })
  })

  t.test('a vote can be taken back while the poll is open', async (t) => {
    const { data: { post: { id, poll: { options } } } } = await post(ana, '/feed', poll)
    const [dawn, dusk] = options
    t.match(await del(ben, `/feed/${id}/vote`), { status: 400, code: 'NOT_VOTED' })
    await post(ben, `/feed/${id}/vote`, { optionId: dawn.id })
    const removals = await Promise.all(Array.from({ length: 5 }, () => del(ben, `/feed/${id}/vote`)))
    t.equal(removals.filter(({ status }) => status === 200).length, 1)
    t.match(await post(ben, `/feed/${id}/vote`, { optionId: dusk.id }), {
      data: { poll: { options: [{ votesCount: 0 }, { votesCount: 1 }], totalVotes: 1, myVote: dusk.id } }
    })
    await db.updateTable('polls').where('post_id', '=', id).set({ ends_at: sql`now()` }).execute()
    t.match(await del(ben, `/feed/${id}/vote`), { status: 410, code: 'POLL_CLOSED' })
  })

  t.test('a vote on a post without a poll or on an unknown option is refused', async (t) => {
    const plain = await givenPost(db, { author_id: ana })
    const { data } = await post(ana, '/feed', poll)
    const { data: other } = await post(ana, '/feed', poll)
    t.match(await post(ben, `/feed/${plain.id}/vote`, { optionId: randomUUID() }), { status: 404, code: 'NOT_FOUND' })
    for (const optionId of [randomUUID(), 'garbage', other.post.poll.options[0].id]) {
      t.match(await post(ben, `/feed/${data.post.id}/vote`, { optionId }), { status: 404, code: 'NOT_FOUND' })
    }
    t.match(await post(ben, `/feed/${data.post.id}/vote`, {}), { status: 400, code: 'VALIDATION_ERROR' })
  })

  t.test('the end of a poll is written as other times are', async (t) => {
    const day = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)
    for (
      const [pollEndsAt, endsAt] of [
        [`${day}T23:59:60Z`, `${day}T23:59:59.000Z`],
        [` ${day}T23:00+0700 `, `${day}T16:00:00.000Z`],
        [` ${day} `, `${day}T17:00:00.000Z`]
      ]
    ) {
      t.match(await post(ana, '/feed', { ...poll, pollEndsAt }), { status: 201, data: { post: { poll: { endsAt } } } })
    }
  })

  t.test('a poll needs a question, 2 to 10 options and an end in the future', async (t) => {
    const options = (count: number) => Array.from({ length: count }, (_, index) => ({ text: `o${index}` }))
    const validPolls = [{ pollOptions: options(10) }, { pollQuestion: undefined }, {
      pollOptions: [{ text: 'x'.repeat(200) }, { text: 'y' }]
    }]
    for (const valid of validPolls) t.equal((await post(ana, '/feed', { ...poll, ...valid })).status, 201)
    const invalidPolls = [
      { pollOptions: options(1) },
      { pollOptions: options(11) },
      { pollOptions: undefined },
      { pollQuestion: ' ', content: ' ' },
      { pollOptions: [{ text: 'x'.repeat(201) }, { text: 'y' }] },
      { pollOptions: [{ text: 'Yes' }, { text: 'No' }, { text: ' yes ' }] },
      { pollOptions: [{ text: 'ＯＫ' }, { text: 'ok' }] },
      { pollEndsAt: '2020-01-01' },
      { pollEndsAt: new Date(Date.now() + 367 * 86_400_000).toISOString() },
      { pollEndsAt: '9999-12-31' },
      { pollEndsAt: 'soon' },
      { pollEndsAt: '2027-02-30' },
      { pollOptions: [{ text: ' ' }, { text: 'y' }] }
    ]
    for (const invalid of invalidPolls) {
      t.match(
        await post(ana, '/feed', { ...poll, ...invalid }),
        { status: 400, code: 'VALIDATION_ERROR' },
        JSON.stringify(invalid).slice(0, 60)
      )
    }
    t.match(await post(ana, '/feed', { ...poll, pollOptions: undefined }), {
      details: [{ field: 'pollQuestion' }, { field: 'pollOptions' }]
    })
    t.notOk((await post(ana, '/feed', { ...poll, type: 'TEXT' })).data.post.poll, 'a post of another type has no poll')
  })
})
