import type { CompiledQuery, Kysely } from 'kysely'

type Values = Record<string, string | number | readonly unknown[] | undefined>

interface Compilable<Row> {
  compile(): CompiledQuery<Row>
}

interface Compiled<Row> {
  query: CompiledQuery<Row>
  /** For each parameter the value that it takes, or undefined for a constant. */
  names: (string | undefined)[]
}

/** A row as JSON represents it. */
export type JsonRow<Row> = { [Name in keyof Row]: Row[Name] extends Date ? string : Row[Name] }

/**
 * An optimisation for a query of a hot path: it is built and compiled once for each shape. A shape is the set of the
 * values that are given, and `shape`.
 * @param build builds and compiles the query. It may test whether a value is given, and must use it for nothing but a
 *   parameter of the query: it gets placeholders. What else the text depends on is in `shape`
 * @returns a function that runs the query
 */
export function cacheQuery<Tables, Named extends Values, Shape extends string | number | boolean, Row> (
  build: (db: Kysely<Tables>, values: Named, shape: Shape) => CompiledQuery<Row>
): (db: Kysely<Tables>, values: Named, shape: Shape) => Promise<Row[]> {
  const compiled = new Map<string, Compiled<Row>>()

  function compile (db: Kysely<Tables>, values: Named, shape: Shape): Compiled<Row> {
    const placeholders = Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) => value === undefined ? [] : [[name, placeholderOf(name, value)]])
    )
    const query = build(db, placeholders as Named, shape)
    const nameOf = new Map(Object.entries(placeholders).map(([name, placeholder]) => [placeholder as unknown, name]))
    return { query, names: query.parameters.map((parameter) => nameOf.get(parameter)) }
  }

  return async (db, values, shape) => {
    let key = `${shape}`
    for (const name in values) if (values[name] !== undefined) key += ` ${name}`
    let found = compiled.get(key)
    if (!found) compiled.set(key, found = compile(db, values, shape))
    const { query, names } = found
    const parameters = query.parameters.map((parameter, index) => {
      const name = names[index]
      return name === undefined ? parameter : values[name]
    })
    return (await db.executeQuery<Row>({ ...query, parameters })).rows
  }
}

const placeholderOf = (name: string, value: unknown) => {
  const placeholder = `placeholder of ${name}`
  return Array.isArray(value) ? [placeholder] : placeholder
}

/**
 * Like `cacheQuery`, and the rows come as one JSON value, which is parsed in a fraction of the time that a row of many
 * columns takes.
 */
export function cacheJsonQuery<Tables, Named extends Values, Shape extends string | number | boolean, Row> (
  build: (db: Kysely<Tables>, values: Named, shape: Shape) => Compilable<Row>
): (db: Kysely<Tables>, values: Named, shape: Shape) => Promise<JsonRow<Row>[]> {
  const read = cacheQuery(
    (db: Kysely<Tables>, values: Named, shape: Shape): CompiledQuery<{ rows: JsonRow<Row>[] }> => {
      const { sql, ...query } = build(db, values, shape).compile()
      return { ...query, sql: `select coalesce(json_agg(page), '[]') as rows from (${sql}) page` }
    }
  )
  return async (db, values, shape) => (await read(db, values, shape))[0]!.rows
}
