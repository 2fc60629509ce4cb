// Writes the models of the API in another language: `npm run models -- swift|kotlin <file>`.
import { writeFileSync } from 'node:fs'
import { screen } from '@tandem/local-servers/screen.ts'
import { buildModels, languages, type Language } from './models.ts'

const [language, file] = process.argv.slice(2)
if (file === undefined || !languages.includes(language as Language)) {
  screen.error(`Usage: npm run models -- ${languages.join('|')} <file>`)
  process.exit(1)
}
writeFileSync(file, await buildModels(language as Language))
screen.done(`wrote ${file}`)
