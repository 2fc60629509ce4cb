import type { CompiledQuery } from 'kysely'
import type { Db } from '../tables.ts'

/** The same database, but each compiled query, as those of the feeds, is passed through `change` before it runs. */
function intercept (db: Db, change: (query: CompiledQuery) => CompiledQuery): Db {
  return new Proxy(db, {
    get (target, name) {
      if (name === 'executeQuery') return async (query: CompiledQuery) => await target.executeQuery(change(query))
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) as unknown : value
    }
  })
}

/** Remembers the last query of a feed that was read from `watched`. */
export function watch (db: Db) {
  let last: CompiledQuery | undefined
  const watched = intercept(db, (query) => last = query)
  return { watched, lastQuery: () => last! }
}
