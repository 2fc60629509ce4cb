// For a test to kill: delivers pushes until then.
import { connect } from '@tandem/database-kit'
import { createLogger } from '@tandem/service-kit'
import type { Tables } from '../tables.ts'
import { readCredential } from './credential.ts'
import { createFcm } from './fcm.ts'
import { createPushes } from './queue.ts'

const [databaseUrl = '', redisUrl = '', prefix = '', baseUrl = '', file = ''] = process.argv.slice(2)
const db = connect<Tables>(databaseUrl, { log: { warn () {} } })
createPushes({
  db,
  findPeople: async () => { throw new Error('nobody is looked up') },
  provider: createFcm({ baseUrl, credential: await readCredential(file) }),
  redisUrl,
  log: createLogger('test', 'silent'),
  prefix,
  concurrency: 4,
  sweepIntervalSeconds: 1,
  sweepMinAgeSeconds: 2
}).start()
