// The service as it runs in production, except for its neighbours: nobody answers its calls, and the keys that verify
// tokens are its own. It reports its port, and signs tokens for the accounts that it is sent.
import { connect } from '@tandem/database-kit'
import { bearer, testKeys } from '@tandem/http-kit/testing'
import { createMedia, diskStorage } from '@tandem/media-kit'
import { createLogger } from '@tandem/process-kit'
import { createApp } from '../app.ts'
import { createSocialDepartures } from '../departures.ts'
import { createRanking } from '../feed/ranking.ts'
import { createPeopleLookup } from '../people/lookup.ts'
import type { Tables } from '../tables.ts'
import { intercept } from './watch.ts'

const [url = '', folder = '', mode] = process.argv.slice(2)
const log = createLogger('social')
const changedTexts = new Map<string, string>()
const own = connect<Tables>(url, { log })
const db = mode === 'shows-hidden' ? intercept(own, (query) => ({ ...query, sql: withoutHiding(query.sql) })) : own
const callRpc = async () => {
  throw new Error('unexpected call')
}
const media = createMedia({ storage: diskStorage(folder), cdnUrl: 'https://cdn.example.com' })
const departures = createSocialDepartures({ db, callRpc, media })
const app = await createApp({
  db,
  callRpc,
  people: createPeopleLookup({ db, callRpc, media }),
  media,
  ranking: createRanking(db),
  fourEyes: new Set(),
  departures
}, { log, keys: testKeys })
await app.listen({ port: 0, host: '127.0.0.1' })

/** The statement of a feed without its conditions for hidden people. */
function withoutHiding (text: string) {
  const known = changedTexts.get(text)
  if (known !== undefined) return known
  const changed = text.replaceAll(
    /coalesce\(not people\.hidden, not exists \([^)]*\)\)|not exists \(\s*select from hidden_people[^)]*\)/g,
    'true'
  )
  if (changed === text) throw new Error('the statement has no condition for hidden people')
  changedTexts.set(text, changed)
  return changed
}

process.on('message', (accountIds: string[]) => {
  process.send?.(accountIds.map((accountId) => bearer(accountId)))
})
process.on('disconnect', () => process.exit())
process.send?.((app.server.address() as { port: number }).port)
