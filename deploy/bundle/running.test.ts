import { becomeMember, call } from '@tandem/rehearsals/kit/people.ts'
import { withStack } from '@tandem/rehearsals/kit/stack.ts'
import { until } from '@tandem/test-kit'
import t from 'tap'

t.setTimeout(120_000)

t.test('processes that run from bundles send mails and pushes', async (t) => {
  await withStack(async (stack) => {
    // Each gets a code by mail.
    const [ana, ben] = await Promise.all(
      ['ana', 'ben'].map(async (name) => await becomeMember(stack, `${name}@example.com`))
    )
    await call(stack, 'POST', '/notifications/push', {
      token: ben!.accessToken,
      body: { token: 'phone-of-ben', platform: 'android' }
    })
    const { data: { post } } = await call<{ data: { post: { id: string } } }>(stack, 'POST', '/feed', {
      token: ben!.accessToken,
      body: { type: 'TEXT', content: 'A run' }
    })
    await call(stack, 'POST', `/feed/${post.id}/comment`, { token: ana!.accessToken, body: { content: 'Well run' } })

    await until(async () => {
      const pushes = await (await fetch(`${stack.devPage.url}/api/pushes`)).json() as { token: string }[]
      return pushes.some(({ token }) => token === 'phone-of-ben')
    })
    t.pass('the provider got the push')
  })
})
