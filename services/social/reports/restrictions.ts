import type { Server } from '@tandem/http-kit'
import { PostingRestricted } from '../errors.ts'
import type { Deps } from '../deps.ts'
import { isPostingRestricted } from './decisions.ts'

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
