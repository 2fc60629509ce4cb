import { sql } from 'kysely'
import type { Server } from '@tandem/http-kit'
import { PostingRestricted } from '../errors.ts'
import type { Deps } from '../deps.ts'
import type { Db } from '../tables.ts'

/** What people may still do while they must not post: report others, and remove what is theirs. */
const isWrite = (method: string, url: string) =>
  /^(POST|PUT|PATCH)$/.test(method) && url !== '/reports' && !url.startsWith('/operator')

/** Refuses writes of accounts whose posting is restricted. Register it before the routes. */
export function refuseRestricted (app: Server, { db }: Pick<Deps, 'db'>) {
  app.addHook('onRoute', (route) => {
    if (![route.method].flat().some((method) => isWrite(method, route.url))) return
    route.schema = { ...route.schema, errors: [...route.schema?.errors ?? [], PostingRestricted] }
  })
  app.addHook('preValidation', async ({ method, account, routeOptions: { url = '' } }) => {
    if (account && isWrite(method, url) && await isPostingRestricted(db, account.id)) throw new PostingRestricted()
  })
}

async function isPostingRestricted (db: Db, accountId: string) {
  const restriction = await db.selectFrom('posting_restrictions').where('account_id', '=', accountId)
    .where((row) => row.or([row('restricted_until', 'is', null), row('restricted_until', '>', sql<Date>`now()`)]))
    .select('account_id').executeTakeFirst()
  return restriction !== undefined
}
