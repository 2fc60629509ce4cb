import t from 'tap'
import { turnOff } from '@tandem/brand-kit/testing'
import type { Feature } from '@tandem/brand-kit'
import { notify, testApp } from './test/app.ts'
import { kinds, type Kind } from './texts/kinds.ts'

const { reset, deps } = await testApp(t)

const kindsOf: Partial<Record<Feature, RegExp>> = {
  stories: /^story/,
  activities: /^(activity|meeting)/,
  fasting: /^fast/,
  // Nobody takes part in an activity without a profile.
  fitmatch: /^(message|like|match|verification|badge|buddy|activity|meeting)/
}

const request = (kind: Kind, to: string) => ({ kind, dedupeKey: kind, to: [to], params: {} })
const all = Object.keys(kinds) as Kind[]

for (const [feature, pattern] of Object.entries(kindsOf)) {
  t.test(`without ${feature}, nobody is notified of it`, async (t) => {
    const { db, person, device } = reset()
    const ana = await person('Ana')
    await device(ana)
    turnOff(t, feature as Feature)
    for (const kind of all) await notify(deps, request(kind, ana), new Date())
    const rows = await db.selectFrom('notifications').where('account_id', '=', ana).select('kind').execute()
    t.strictSame(rows.map(({ kind }) => kind).sort(), all.filter((kind) => !pattern.test(kind)).sort())
  })
}

t.test('a push that waits while its feature is turned off is not sent', async (t) => {
  const { person, device, provider, deliverAll } = reset()
  const ana = await person('Ana')
  await device(ana)
  await notify(deps, request('fastGoalReached', ana), new Date())
  turnOff(t, 'fasting')
  await deliverAll()
  t.strictSame(provider.sent, [])
})
