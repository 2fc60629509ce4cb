import t from 'tap'
import { startHookProvider } from '@tandem/http-kit/testing'
import { createHookProvider } from './hook-provider.ts'

const push = {
  token: 'phone-of-ana',
  platform: 'ios' as const,
  collapseId: 'like:42',
  title: 'Ben',
  body: 'Ben likes your post',
  data: { postId: '42' },
  badge: 3,
  urgent: false,
  silent: false
}

t.test('the provider of the operator gets a push whole and signed, and its status decides', async (t) => {
  const system = await startHookProvider(t)
  const provider = createHookProvider(system.hooks('send-push').senderOf('send-push')!)
  for (
    const [status, outcome] of [
      [202, { type: 'sent' }],
      [410, { type: 'dead', reason: 'status 410' }],
      [400, { type: 'refused', reason: 'status 400' }],
      [422, { type: 'refused', reason: 'status 422' }],
      [429, { type: 'later', reason: 'status 429' }],
      [500, { type: 'later', reason: 'status 500' }]
    ] as const
  ) {
    system.replyWith({ status })
    t.strictSame(await provider.send(push), outcome, String(status))
  }
  t.strictSame(system.asked.map(({ type, data }) => ({ type, data })), Array(6).fill({ type: 'send-push', data: push }))

  system.replyWith('DEAD')
  t.match(await provider.send(push), { type: 'later', reason: String })
})
