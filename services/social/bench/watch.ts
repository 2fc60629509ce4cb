import type { CompiledQuery } from 'kysely'
import type { Db } from '../tables.ts'

/** Remembers the last query of a feed that was read from `watched`. */
export function watch (db: Db) {
  let last: CompiledQuery | undefined
  const watched = new Proxy(db, {
    get (target, name) {
      if (name === 'executeQuery') {
        return async (query: CompiledQuery) => {
          last = query
          return await target.executeQuery(query)
        }
      }
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) as unknown : value
    }
  })
  return { watched, lastQuery: () => last! }
}
