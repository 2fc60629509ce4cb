/** Which page of a list is asked for, as `PageQuery` reads it. */
export interface Page { cursor?: string | undefined, limit: number }

/** Cuts `rows` to a page of `limit`; one more was read, to know whether another page follows. */
export function paginate<Row> (rows: Row[], limit: number, cursorOf: (row: Row) => string) {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null }
}
