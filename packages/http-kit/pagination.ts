import { ValidationError } from './errors.ts'

/** The page of a list that a client requests, as `PageQuery` parses it. */
export interface Page {
  cursor?: string | undefined
  limit: number
}

/**
 * Returns the first `limit` rows and the cursor of the next page. Read `limit + 1` rows: the extra one shows that
 * another page follows.
 */
export function paginate<Row> (rows: Row[], limit: number, cursorOf: (row: Row) => string) {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null }
}

/** For a cursor that this list has never returned. */
export const createInvalidCursor = () => new ValidationError('cursorMustBeNextCursorOfPreviousPage', ['cursor'])
