// Records events, RPCs and endpoints that are new or changed compatibly, and writes the rights on NATS and the lists of
// services: `npm run contracts`.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { screen } from '@tandem/local-servers/screen.ts'
import '@tandem/nats/write-rights.ts'
import '@tandem/observability/write-rules.ts'
import '../new-service/write.ts'
import { apiReportFile, buildApiReport } from '@tandem/clients/api-report.ts'
import { checkContracts, checkDocument } from './guard.ts'
import { writeMissingSamples } from './samples.ts'

const root = path.resolve(import.meta.dirname, '../..')
for (const file of writeMissingSamples(root)) screen.done(`wrote ${file}`)
for (const check of [checkContracts, checkDocument]) {
  const { file, problems, content, isUpToDate } = await check(root)
  for (const problem of problems) screen.error(problem)
  if (problems.length > 0) {
    screen.error(`${file} was not changed.`)
    process.exitCode = 1
  } else if (isUpToDate) {
    screen.done(`${file} is up to date`)
  } else {
    writeFileSync(path.join(root, file), content)
    screen.done(`wrote ${file}`)
  }
}
// It reads the document that was just written.
if (process.exitCode === undefined) {
  writeFileSync(path.join(root, apiReportFile), buildApiReport())
  screen.done(`wrote ${apiReportFile}`)
}
