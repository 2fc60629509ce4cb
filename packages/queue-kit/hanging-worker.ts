// A process for a test to kill: it takes a job, reports it, and never finishes it.
import { createQueue } from './index.ts'

const [redisUrl = '', prefix = ''] = process.argv.slice(2)
createQueue({
  name: 'letters',
  redisUrl,
  prefix,
  log: console,
  listPending: async () => [],
  work: async (id) => {
    process.send?.(id)
    await new Promise(() => {})
  }
}).start()
