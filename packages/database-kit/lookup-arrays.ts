import { sql, type RawBuilder } from 'kysely'

type ElementType = 'boolean' | 'bigint' | 'integer' | 'text' | 'timestamptz' | 'uuid'

/**
 * An array for `unnest`, to look up a few rows for each of its elements. Postgres does not see its length. It expects
 * ten elements of any array, so for a shorter one it would make another plan at each call, which takes two to five times
 * as long as the lookups.
 */
export const lookupArray = (values: readonly unknown[], type: ElementType): RawBuilder<unknown> =>
  sql`(select ${values}::${sql.raw(type)}[])`
