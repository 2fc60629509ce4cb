// Sends pushes until a test kills it.
import { fakeRpc } from '@tandem/bus-kit/testing'
import { connect } from '@tandem/database-kit'
import { createLogger } from '@tandem/process-kit'
import { createPushQueue } from '../push/create-push-queue.ts'
import { readCredential } from '@tandem/google-kit'
import { FCM_CREDENTIAL, createFcm } from '../push/fcm.ts'
import type { Tables } from '../tables.ts'

const [databaseUrl = '', redisUrl = '', prefix = '', baseUrl = '', file = ''] = process.argv.slice(2)
const db = connect<Tables>(databaseUrl, { log: { warn () {} }, timeoutFactor: 10 })
createPushQueue({
  db,
  callRpc: fakeRpc([]),
  findPeople: async () => [],
  provider: createFcm({ baseUrl, credential: await readCredential(file, FCM_CREDENTIAL) }),
  redisUrl,
  log: createLogger('test', 'silent'),
  prefix,
  concurrency: 4,
  sweepIntervalSeconds: 1,
  sweepMinAgeSeconds: 2
}).start()
