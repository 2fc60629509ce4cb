import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { trimMemoryWhenQuiet } from './trim-memory.ts'

const PERIOD_MS = 200
const MEGABYTE = 1_000_000

// So much that it survives the collections of the young generation.
function leaveGarbage () {
  const objects = Array.from({ length: 1_000_000 }, (_, number) => ({ number }))
  return objects.length
}

const residentMegabytes = () => process.memoryUsage.rss() / MEGABYTE

t.test('a quiet process gives back the memory of its start', async (t) => {
  leaveGarbage()
  const before = residentMegabytes()
  t.teardown(trimMemoryWhenQuiet(PERIOD_MS))
  while (residentMegabytes() > before - 30) await sleep(20)
  t.pass('30 MB are given back')
})
