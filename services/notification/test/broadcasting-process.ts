// Sends broadcasts until a test kills it.
import { EventEmitter } from 'node:events'
import { connect } from '@tandem/database-kit'
import { createMediaUrls } from '@tandem/media-url-kit'
import { fakeMailer } from '@tandem/mail-kit/testing'
import { createLogger } from '@tandem/process-kit'
import type { Tables } from '../tables.ts'
import { startBroadcasting } from '../broadcasts/actions.ts'
import { createNotificationErasure } from '../erasure.ts'

const [url = ''] = process.argv.slice(2)
const db = connect<Tables>(url, { log: { warn () {} }, timeoutFactor: 10 })
const callRpc = async () => {
  throw new Error('unexpected call')
}
startBroadcasting({
  db,
  callRpc,
  findPeople: async () => [],
  mailer: fakeMailer(),
  mediaUrls: createMediaUrls('http://localhost/media'),
  publicUrl: 'http://localhost',
  // Pauses after each chunk, so that the test can kill it between two chunks.
  pushes: {
    enqueue: async () => await new Promise((resolve) => setTimeout(resolve, 200)),
    start () {},
    close: async () => {},
    ping: async () => {},
    lowPriorityDepth: async () => 0
  },
  webhooks: { enqueue: async () => {}, start () {}, close: async () => {} },
  webhookPrivateHosts: new Set(),
  likeDigestMs: 0,
  now: () => new Date(),
  arrivals: new EventEmitter(),
  fourEyes: new Set(),
  erasure: createNotificationErasure({ db, callRpc }),
  wakeUp () {},
  log: createLogger('test', 'silent')
}, createLogger('test', 'silent'))
