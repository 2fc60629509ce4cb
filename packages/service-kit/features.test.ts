import t from 'tap'
import { turnOff } from '@tandem/brand-kit/testing'
import { silentLog } from '@tandem/http-kit/testing'
import { workOfFeature } from './features.ts'

t.test('work of a feature starts only while the feature is on', async (t) => {
  const stop = () => {}
  const work = workOfFeature('fasting', (deps: string) => {
    t.equal(deps, 'deps')
    return stop
  })
  t.equal(work('deps', silentLog), stop)
  turnOff(t, 'fasting')
  t.equal(work('other', silentLog), undefined)
})
