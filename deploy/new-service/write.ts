// Writes the parts of files that name every service, from the list in gateway/routes.ts: `npm run contracts`.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { screen } from '@tandem/local-servers/screen.ts'
import { generateRegions } from './regions.ts'

const root = path.resolve(import.meta.dirname, '../..')
for (const [file, content] of generateRegions(root)) {
  if (readFileSync(path.join(root, file), 'utf8') === content) continue
  writeFileSync(path.join(root, file), content)
  screen.done(`wrote ${file}`)
}
