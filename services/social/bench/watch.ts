import type { CompiledQuery } from 'kysely'
import type { Db } from '../tables.ts'

/** The same database, which remembers the last compiled query, as those of the feeds are. */
export function watch (db: Db) {
  let last: CompiledQuery | undefined
  const watched = new Proxy(db, {
    get (target, name) {
      if (name === 'executeQuery') return async (query: CompiledQuery) => await target.executeQuery(last = query)
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) as unknown : value
    }
  })
  return { watched, lastQuery: () => last! }
}
