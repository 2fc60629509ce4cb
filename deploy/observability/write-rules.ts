// Writes the rules as an object of the Prometheus operator: `node deploy/observability/write-rules.ts`.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describeRules, rulesFile } from './rules.ts'

writeFileSync(rulesFile, describeRules())
console.log(`wrote ${path.relative(path.resolve(import.meta.dirname, '../..'), rulesFile)}`)
