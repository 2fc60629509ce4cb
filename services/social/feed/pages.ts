import type { Page } from '@tandem/http-kit'
import type { CompiledQuery } from 'kysely'
import type { PostRow } from '../posts/queries.ts'
import type { Db, PostType } from '../tables.ts'
import { cacheJsonQuery } from './cached-query.ts'

export interface Filters {
  type?: PostType | undefined
  hashtag?: string | undefined
  mentioned?: string | undefined
}
export type FeedQuery = Filters & Page

/**
 * Returns a function that reads a page of a feed. Its query is compiled once for each combination of filters.
 * @param build builds the query. It gets placeholders in place of all values but the limit
 */
export function cachePage<Query extends FeedQuery, Row extends PostRow> (
  build: (db: Db, reader: string, query: Query) => { compile(): CompiledQuery<Row> }
) {
  const read = cacheJsonQuery(
    (db: Db, { reader, ...values }: Omit<Query, 'limit'> & { reader: string }, limit: number) =>
      build(db, reader, { ...values, limit } as unknown as Query)
  )
  return async (db: Db, reader: string, { limit, ...values }: Query): Promise<Row[]> => {
    const rows = await read(db, { ...values, reader }, limit)
    return rows.map((row) =>
      Object.assign(row, {
        createdAt: new Date(row.createdAt),
        editedAt: row.editedAt && new Date(row.editedAt)
      }) as Row
    )
  }
}
