import path from 'node:path'
import t from 'tap'
import { checkContracts, checkDocument } from './guard.ts'

const root = path.resolve(import.meta.dirname, '../..')

t.test('events and RPCs are compatible with the published ones', async (t) => {
  const { problems, isUpToDate, file } = await checkContracts(root)
  for (const problem of problems) t.fail(problem)
  if (problems.length === 0) t.ok(isUpToDate, `${file} has all that is new; else run \`npm run contracts\` and commit what it writes`)
})

t.test('the API is compatible with the published one, and clients reach all of it through the gateway', async (t) => {
  const { problems, isUpToDate, file } = await checkDocument(root)
  for (const problem of problems) t.fail(problem)
  if (problems.length === 0) t.ok(isUpToDate, `${file} has all that is new; else run \`npm run contracts\` and commit what it writes`)
})
