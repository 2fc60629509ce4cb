import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { apiReportFile, buildApiReport } from './api-report.ts'

t.test('the page that lists the API of the SDK is current', (t) => {
  const committed = readFileSync(path.resolve(import.meta.dirname, '../..', apiReportFile), 'utf8')
  t.ok(committed === buildApiReport(), 'run "npm run contracts" and commit what it writes')
  t.end()
})
