// Creates notifications and claims their pushes, but never sends them, until a test kills it.
import { fakeRpc } from '@tandem/bus-kit/testing'
import { connect } from '@tandem/database-kit'
import { createLogger } from '@tandem/process-kit'
import { createNotifier } from '../notifications/notifier.ts'
import { createPushQueue } from '../push/create-push-queue.ts'
import type { Tables } from '../tables.ts'

const [databaseUrl = '', redisUrl = '', prefix = '', ...accountIds] = process.argv.slice(2)
const db = connect<Tables>(databaseUrl, { log: { warn () {} }, timeoutFactor: 10 })
const findPeople = async () => []
const provider = {
  async send () {
    process.send?.('about to send')
    return await new Promise<never>(() => {})
  },
  async close () {}
}
const log = createLogger('test', 'silent')
const pushes = createPushQueue({ db, callRpc: fakeRpc([]), findPeople, provider, redisUrl, log, prefix })
pushes.start()
const notify = createNotifier({ db, findPeople, pushes, now: () => new Date(), wakeUp () {} })
await Promise.all(
  accountIds.map((accountId) =>
    notify({ kind: 'levelReached', dedupeKey: 'level:2', to: [accountId], params: { level: 2 } }, {
      occurredAt: new Date()
    })
  )
)
