import type { CompiledQuery, Kysely } from 'kysely'

type Values = Record<string, string | number | undefined>

interface Compilable<Row> {
  compile(): CompiledQuery<Row>
}

/** A row as JSON represents it. */
export type JsonRow<Row> = { [Name in keyof Row]: Row[Name] extends Date ? string : Row[Name] }

/**
 * An optimisation for the feeds: a query is built and compiled once for each limit and set of values that are given. Its
 * rows come as one JSON value, which is parsed in a fraction of the time that a row of many columns takes.
 * @param build builds the query. It may test whether a value is given, and must use it for nothing but a parameter of the
 *   query: it gets placeholders
 * @returns a function that runs the query
 */
export function cacheJsonQuery<Tables, Named extends Values, Row> (
  build: (db: Kysely<Tables>, values: Named, limit: number) => Compilable<Row>
): (db: Kysely<Tables>, values: Named, limit: number) => Promise<JsonRow<Row>[]> {
  const compiled = new Map<string, ReturnType<typeof compile>>()

  function compile (db: Kysely<Tables>, given: string[], limit: number) {
    const nameOf = new Map<unknown, string>(given.map((name) => [`placeholder of ${name}`, name]))
    const placeholders = Object.fromEntries([...nameOf].map(([placeholder, name]) => [name, placeholder]))
    const { sql, parameters, ...query } = build(db, placeholders as Named, limit).compile()
    return {
      query: { ...query, sql: `select coalesce(json_agg(page), '[]') as rows from (${sql}) page` },
      parameters: parameters.map((value) => ({ name: nameOf.get(value), value }))
    }
  }

  return async (db, values, limit) => {
    const given = Object.keys(values).filter((name) => values[name] !== undefined)
    const key = [limit, ...given].join(' ')
    let found = compiled.get(key)
    if (!found) compiled.set(key, found = compile(db, given, limit))
    const parameters = found.parameters.map(({ name, value }) => name === undefined ? value : values[name])
    const { rows: [page] } = await db.executeQuery<{ rows: JsonRow<Row>[] }>({ ...found.query, parameters })
    return page!.rows
  }
}
