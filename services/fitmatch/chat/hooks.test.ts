import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startHookProvider } from '@tandem/http-kit/testing'
import { testApp, type Member } from '../test/app.ts'

const provider = await startHookProvider(t)
const allowing = await testApp(t, { hooks: provider.hooks('before-message', 'allow') })
const denying = await testApp(t, { hooks: provider.hooks('before-message', 'deny') })

/** Two people who can write to each other. */
async function givenChat ({ member, createMatch, post, db }: typeof allowing) {
  const [ana, ben] = await Promise.all([member('Ana'), member('Ben')]) as [Member, Member]
  const matchId = await createMatch(ana, ben)
  return {
    ana,
    matchId,
    write: async (content: string, more: object = {}) =>
      await post(ana.id, `/fitmatch/chat/${matchId}/messages`, { content, ...more }),
    written: async () => (await db.selectFrom('messages').where('match_id', '=', matchId).select('id').execute()).length
  }
}

t.test('a message that the hook denies is not sent, and the sender reads why', async (t) => {
  const { ana, matchId, write, written } = await givenChat(allowing)
  provider.replyWith({ decision: 'deny', text: 'Please do not send addresses' })
  t.match(await write('Main street 5'), { status: 403, code: 'FORBIDDEN', error: 'Please do not send addresses' })
  t.match(provider.asked.at(-1), {
    type: 'before-message',
    data: { accountId: ana.id, matchId, content: 'Main street 5', hasImage: false }
  })
  t.equal(await written(), 0)
  provider.replyWith({ decision: 'allow' })
  t.match(await write('At seven?'), { status: 201 })
  t.equal(await written(), 1)
})

t.test('without an answer, the setting decides', async (t) => {
  const [open, closed] = [await givenChat(allowing), await givenChat(denying)]
  for (const reply of ['NO_ANSWER', 'DEAD', 'rubbish', { status: 500 }]) {
    provider.replyWith(reply)
    const [sent, denied] = await Promise.all([open.write('At seven?'), closed.write('At seven?')])
    t.match(sent, { status: 201 }, JSON.stringify(reply))
    t.match(denied, { status: 403, code: 'FORBIDDEN' })
  }
  t.equal(await open.written(), 4)
  t.equal(await closed.written(), 0)
})

t.test('nothing is asked about a message that cannot be sent, or that was sent', async (t) => {
  const { write } = await givenChat(denying)
  provider.replyWith({ decision: 'allow' })
  const clientMessageId = randomUUID()
  const first = await write('At seven?', { clientMessageId })
  provider.replyWith('DEAD')
  const asked = provider.asked.length
  t.same((await write('At seven?', { clientMessageId })).data, first.data)
  const stranger = await denying.member('Cleo')
  t.match(await denying.post(stranger.id, `/fitmatch/chat/${randomUUID()}/messages`, { content: 'Hi' }), {
    status: 404
  })
  t.equal(provider.asked.length, asked)
})
