import { randomUUID } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import type { Departures } from './departures.ts'
import { personalTables } from './erase.ts'
import type { DepartureTables } from './tables.ts'

/** The part of a tap test that these checks use. */
interface Check {
  same(found: unknown, wanted: unknown, message: string): unknown
}

type Row = Record<string, unknown>
type InsertRow = (table: string, values: Row) => Promise<Row>

interface Service {
  db: Kysely<DepartureTables>
  departures: Departures
  personalData: object
}

interface Coverage extends Service {
  /** Further tables that name the account after its erasure, on purpose. */
  mayNameIt?: string[]
  /**
   * Inserts at least one row of each personal table for `accountId`, and the same for others. `insert` fills every
   * column without a default that `values` omits; text gets the marker.
   */
  seed: (people: { accountId: string, otherId: string, insert: InsertRow }) => Promise<unknown>
}

// The tables that migrations themselves keep.
const OF_MIGRATIONS = '(_migrations|_migrations_lock|_migration_checksums)$'

/** Checks that the declaration covers the live schema: every table, and only columns that exist. */
export async function checkSchema (t: Check, { db, personalData }: Pick<Service, 'db' | 'personalData'>) {
  const { rows } = await sql<{ name: string, columns: string[] }>`
    select table_name as name, array_agg(column_name::text) as columns from information_schema.columns
    where table_schema = current_schema() and table_name !~ ${OF_MIGRATIONS} group by table_name`.execute(db)
  const live = new Map(rows.map(({ name, columns }) => [name, columns]))
  const declared = Object.keys(personalData)
  t.same([...live.keys()].filter((name) => !declared.includes(name)), [], 'tables that personal-data.ts does not cover')
  t.same(declared.filter((name) => !live.has(name)), [], 'tables in personal-data.ts that do not exist')
  for (const [name, { exported }] of personalTables(personalData)) {
    const columns = 'not' in exported ? [] : exported
    t.same(columns.filter((column) => !live.get(name)?.includes(column)), [], `exported columns of ${name} exist`)
  }
}

/**
 * Fills every personal table for one account, erases the account, and searches every column of every table for what is
 * left of it.
 */
export async function checkErasure (t: Check, { db, departures, personalData, seed, mayNameIt = [] }: Coverage) {
  const [accountId, otherId] = [randomUUID(), randomUUID()]
  const marker = `marker-${randomUUID()}`
  await seed({ accountId, otherId, insert: createInsert(db, marker) })
  const before = await departures.verify(accountId)
  const tables = personalTables(personalData).map(([name]) => name)
  t.same(tables.filter((name) => !before.left[name]), [], 'personal tables without a row in this test')

  const tombstone = { account_id: accountId, erasure_id: randomUUID() }
  await db.insertInto('departures').values(tombstone).execute()
  await departures.eraseDue()

  const departure = await db.selectFrom('departures').where('account_id', '=', accountId).select(['rows', 'kept'])
    .executeTakeFirstOrThrow()
  t.same(departure.rows, before.left, 'the counts are those of the rows before')
  t.same(departure.kept, before.kept, 'what is kept is counted')
  t.same((await departures.verify(accountId)).left, {}, 'a new count finds nothing')
  t.same(await findTraces(db, { accountId, marker }, mayNameIt), [], 'no column of any table names the account')
}

// Tombstones, receipts and events on their way name the account by its id alone, on purpose.
const NAME_IT = ['departures', 'outbox', 'erasures', 'accounts']

async function findTraces (
  db: Kysely<DepartureTables>,
  { accountId, marker }: { accountId: string, marker: string },
  mayNameIt: string[]
) {
  const nameIt = [...NAME_IT, ...mayNameIt]
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = current_schema() and table_name !~ ${OF_MIGRATIONS}`.execute(db)
  const traces: string[] = []
  for (const { name } of tables) {
    for (const text of nameIt.includes(name) ? [marker] : [accountId, marker]) {
      const { rows } = await sql`
        select from ${sql.table(name)} as live where position(${text} in to_jsonb(live)::text) > 0`.execute(db)
      if (rows.length > 0) traces.push(name)
    }
  }
  return traces
}

function createInsert (db: Kysely<DepartureTables>, marker: string): InsertRow {
  const valueOf = (type: string) => {
    if (type.endsWith('[]')) return '{}'
    if (type === 'uuid') return randomUUID()
    if (type.startsWith('json')) return JSON.stringify({ marker })
    if (type === 'boolean') return false
    if (type === 'bytea') return Buffer.from(randomUUID())
    if (type === 'date' || type.startsWith('timestamp')) return new Date()
    return type === 'text' ? `${marker} ${randomUUID()}` : 1
  }
  return async (table, values) => {
    const { rows: columns } = await sql<{ name: string, type: string }>`
      select attname::text as name, format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attnotnull
        and not atthasdef and attidentity = '' and attgenerated = ''`.execute(db)
    const filled = columns.filter(({ name }) => !(name in values)).map(({ name, type }) => [name, valueOf(type)])
    const row: Row = { ...Object.fromEntries(filled) as Row, ...values }
    const { rows: [inserted] } = await sql<Row>`
      insert into ${sql.table(table)} (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
      values (${sql.join(Object.values(row))}) returning *`.execute(db)
    return inserted!
  }
}
