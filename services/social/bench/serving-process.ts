// The service as it runs in production, except for its neighbours: nobody answers its calls, and the keys that verify
// tokens are its own. It reports its port, and signs tokens for the accounts that it is sent.
import { connect } from '@tandem/database-kit'
import { bearer, testKeys } from '@tandem/http-kit/testing'
import { createMedia, diskStorage } from '@tandem/media-kit'
import { createLogger } from '@tandem/process-kit'
import { createApp } from '../app.ts'
import { createSocialDepartures } from '../departures.ts'
import { createPeopleLookup } from '../people/lookup.ts'
import type { Tables } from '../tables.ts'

const [url = '', folder = ''] = process.argv.slice(2)
const log = createLogger('social')
const db = connect<Tables>(url, { log })
const callRpc = async () => {
  throw new Error('unexpected call')
}
const media = createMedia({ storage: diskStorage(folder), cdnUrl: 'https://cdn.example.com' })
const departures = createSocialDepartures({ db, callRpc, media })
const app = await createApp(
  { db, callRpc, people: createPeopleLookup({ db, callRpc, media }), media, fourEyes: new Set(), departures },
  { log, keys: testKeys }
)
await app.listen({ port: 0, host: '127.0.0.1' })

process.on('message', (accountIds: string[]) => {
  process.send?.(accountIds.map((accountId) => bearer(accountId)))
})
process.on('disconnect', () => process.exit())
process.send?.((app.server.address() as { port: number }).port)
