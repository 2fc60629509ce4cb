import path from 'node:path'
import { bundle } from './bundle.ts'

// `node deploy/bundle/cli.ts <folder> <name>=<main module> …` bundles the processes of an image.

const [folder, ...pairs] = process.argv.slice(2)
if (!folder || pairs.length === 0) {
  console.error('usage: node deploy/bundle/cli.ts <folder> <name>=<main module> …')
  process.exit(2)
}
await bundle(
  path.resolve(import.meta.dirname, '../..'),
  Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string])),
  path.resolve(folder)
)
