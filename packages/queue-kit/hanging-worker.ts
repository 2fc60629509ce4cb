// For a test to kill: takes a job, says so, and never ends it.
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
