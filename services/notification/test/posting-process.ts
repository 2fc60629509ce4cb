// Sends webhooks until a test kills it.
import { connect } from '@tandem/database-kit'
import { createLogger } from '@tandem/process-kit'
import type { Tables } from '../tables.ts'
import { createPoster } from '../webhooks/poster.ts'
import { createWebhookQueue } from '../webhooks/queue.ts'

const [databaseUrl = '', redisUrl = '', prefix = ''] = process.argv.slice(2)
const log = createLogger('test', 'silent')
createWebhookQueue({
  db: connect<Tables>(databaseUrl, { log: { warn () {} }, timeoutFactor: 10 }),
  poster: createPoster({ privateHosts: new Set(['127.0.0.1']) }),
  redisUrl,
  log,
  prefix,
  retryDelaysMs: [200],
  sweepIntervalSeconds: 1,
  sweepMinAgeSeconds: 1
}).start()
