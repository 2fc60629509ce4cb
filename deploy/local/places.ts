import { readFile } from 'node:fs/promises'
import path from 'node:path'

// `npm run places import <file>`: the command of fitmatch, in the database of DATABASE_URL, or else in that of
// `npm start`, which has to run.

if (!process.env['DATABASE_URL'] && !process.env['DATABASE_URL_FILE']) {
  const dataDir = process.env['DATA_DIR'] ?? path.resolve(import.meta.dirname, '../../.data')
  const text = await readFile(path.join(dataDir, 'stack.json'), 'utf8').catch(() => undefined)
  if (!text) {
    console.error('Set DATABASE_URL to that of fitmatch, or run npm start first')
    process.exit(1)
  }
  const url = new URL((JSON.parse(text) as { postgres: { url: string } }).postgres.url)
  url.searchParams.set('options', '-c search_path=fitmatch')
  process.env['DATABASE_URL'] = url.href
}
await import('../../services/fitmatch/places/cli.ts')
