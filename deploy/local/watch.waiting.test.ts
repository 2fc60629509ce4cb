import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { dummySystem, eventually } from './dummy-system.ts'

t.test('with --watch, a changed service restarts, even if it failed to start', async (t) => {
  const system = dummySystem(t)
  const file = path.join(system.root, 'services/social/main.ts')
  const works = 'import "../identity/main.ts"'
  writeFileSync(file, 'console.error("not yet")\nprocess.exit(1)')
  const { output } = system.launch({ args: ['--watch'] })
  const before = await system.stack()
  t.match(output(), 'social did not start')
  t.match(await (await fetch(before.gateway.url)).json(), { LIMIT_PROFILE: 'relaxed' })

  writeFileSync(file, works)
  const after = await system.stack(({ services }) => services['social']?.pid !== null)
  t.equal(after.services['identity']?.pid, before.services['identity']?.pid, 'the others keep running')
  await eventually(() => {
    if (!output().includes('services/social/main.ts changed')) throw new Error(output())
  })

  writeFileSync(path.join(system.root, 'packages/any.ts'), '')
  await system.stack(({ gateway }) => gateway.pid !== before.gateway.pid)
})
