import path from 'node:path'
import t, { type Test } from 'tap'
import { checkContracts, checkDocument } from './guard.ts'

const root = path.resolve(import.meta.dirname, '../..')

function report (t: Test, { file, problems, isUpToDate }: Awaited<ReturnType<typeof checkContracts>>) {
  for (const problem of problems) t.fail(problem)
  if (problems.length === 0 && !isUpToDate) {
    t.fail(`${file} lacks compatible changes of the code. Run "npm run contracts" and commit what it writes.`)
  }
  t.pass(`${file} was compared`)
}

t.test('events and RPCs are compatible with the published ones', async (t) => {
  report(t, await checkContracts(root))
})

t.test('the API is compatible with the published one, and clients reach all of it through the gateway', async (t) => {
  report(t, await checkDocument(root))
})
