// For a test to kill: spreads broadcasts until then.
import { connect } from '@tandem/database-kit'
import { silent } from '@tandem/service-kit/testing'
import { idleMailer } from '@tandem/mail-kit/testing'
import type { Tables } from '../schema.ts'
import { idlePushes } from '../testing.ts'
import { startSpreading } from './actions.ts'

const [url = ''] = process.argv.slice(2)
const db = connect<Tables>(url, { log: { warn () {} } })
startSpreading({
  db,
  ask: async () => { throw new Error('nobody is asked') },
  mailer: idleMailer(),
  // A pause after each chunk, so that there is a middle to be killed in.
  pushes: { ...idlePushes(), offer: async () => await new Promise((resolve) => setTimeout(resolve, 100)) },
  gatherLikesFor: 0,
  now: () => new Date()
}, silent)
