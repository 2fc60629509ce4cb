// Writes the SDK as JavaScript modules: `node deploy/clients/build-sdk.ts <folder>`.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { screen } from '@tandem/local-servers/screen.ts'
import { readSdkModules } from './javascript.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  screen.error('Usage: node deploy/clients/build-sdk.ts <folder>')
  process.exit(1)
}
for (const [name, source] of readSdkModules()) {
  const file = path.join(folder, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, source)
}
screen.done(`wrote the SDK to ${folder}`)
