// For a test to kill: spreads broadcasts until then.
import { connect } from '@tandem/database-kit'
import { fakeMailer } from '@tandem/mail-kit/testing'
import { createLogger } from '@tandem/service-kit'
import type { Tables } from '../tables.ts'
import { startSpreading } from './actions.ts'

const [url = ''] = process.argv.slice(2)
const db = connect<Tables>(url, { log: { warn () {} } })
startSpreading({
  db,
  callRpc: async () => { throw new Error('nobody is asked') },
  findPeople: async () => { throw new Error('nobody is looked up') },
  mailer: fakeMailer(),
  // A pause after each chunk, so that there is a middle to be killed in.
  pushes: {
    offer: async () => await new Promise((resolve) => setTimeout(resolve, 200)),
    start () {},
    close: async () => {},
    ready: async () => {},
    lowDepth: async () => 0
  },
  gatherLikesFor: 0,
  now: () => new Date()
}, createLogger('test', 'silent'))
