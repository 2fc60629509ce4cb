import { call } from '@tandem/rehearsals/kit/call.ts'
import { becomeMember } from '@tandem/rehearsals/kit/people.ts'
import { sharedStack } from '@tandem/rehearsals/kit/shared-stack.ts'
import { until } from '@tandem/test-kit'
import t from 'tap'
import { verifyLines } from './request-lines.ts'

t.test('processes that run from bundles send mails and pushes, and log whole requests', async (t) => {
  const { stack, dataDir } = await sharedStack()
  // Each gets a code by mail.
  const [cleo, dan] = await Promise.all(
    ['cleo', 'dan'].map(async (name) => await becomeMember(stack, `${name}@example.com`))
  )
  await call(stack, 'POST', '/notifications/push', {
    token: dan!.accessToken,
    body: { token: 'phone-of-dan', platform: 'android' }
  })
  const { data: { post } } = await call<{ data: { post: { id: string } } }>(stack, 'POST', '/feed', {
    token: dan!.accessToken,
    body: { type: 'TEXT', content: 'A run' }
  })
  await call(stack, 'POST', `/feed/${post.id}/comment`, { token: cleo!.accessToken, body: { content: 'Well run' } })

  await until(async () => {
    const pushes = await (await fetch(`${stack.devPage.url}/api/pushes`)).json() as { token: string }[]
    return pushes.some(({ token }) => token === 'phone-of-dan')
  })
  t.pass('the provider got the push')
  await verifyLines(t, stack, dataDir)
})
