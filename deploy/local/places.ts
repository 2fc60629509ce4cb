import { useRunningSystem } from './running-system.ts'

// `npm run places import <file>`: the command of fitmatch, in the database of DATABASE_URL, or else in that of
// `npm start`, which has to run.

if (!await useRunningSystem('fitmatch')) {
  console.error('Set DATABASE_URL to that of fitmatch, or run npm start first')
  process.exit(1)
}
await import('../../services/fitmatch/places/cli.ts')
