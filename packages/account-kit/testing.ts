import { randomUUID } from 'node:crypto'
import { sql, type Kysely, type SqlBool } from 'kysely'
import type { AccountErasure } from './erasure.ts'
import { personalTables } from './erase-rows.ts'
import { exportOf, findPrimaryKey } from './export.ts'
import type { ErasureTables } from './tables.ts'

/** The part of a tap test that these checks use. */
interface Check {
  same(found: unknown, wanted: unknown, message: string): unknown
}

type Row = Record<string, unknown>
type InsertRow = (table: string, values: Row) => Promise<Row>

interface Service {
  db: Kysely<ErasureTables>
  erasure: AccountErasure
  personalData: object
}

interface Coverage extends Service {
  /** Further tables that name the account after its erasure, on purpose. */
  mayNameIt?: string[]
  seed: Seed
}

/**
 * Inserts at least one row of each personal table for `accountId`, and rows of `otherId`, a person the account knows.
 * `insert` fills every column without a default that `values` omits, and a foreign key with the first row it can name.
 * Text gets the marker of the first person in the row, of the account if it names nobody. A table whose rows
 * are found by columns alone, and that it leaves out, gets a row by itself.
 */
export type Seed = (people: SeedPeople) => Promise<unknown>

interface SeedPeople {
  accountId: string
  otherId: string
  insert: InsertRow
  markers: { own: string, other: string }
}

// Without the tables that migrations themselves keep, and the partitions of others.
const isOwnTable = sql<SqlBool>`(table_schema = current_schema()
  and table_name !~ '(_migrations|_migrations_lock|_migration_checksums)$'
  and not (select relispartition from pg_class where oid = quote_ident(table_name)::regclass))`

/** Checks that the declaration covers the live schema: every table, and only columns that exist. */
export async function checkSchema (t: Check, { db, personalData }: Pick<Service, 'db' | 'personalData'>) {
  const { rows } = await sql<{ name: string, columns: string[] }>`
    select table_name as name, array_agg(column_name::text) as columns from information_schema.columns
    where ${isOwnTable} group by table_name`.execute(db)
  const live = new Map(rows.map(({ name, columns }) => [name, columns]))
  const declared = Object.keys(personalData)
  t.same([...live.keys()].filter((name) => !declared.includes(name)), [], 'tables that personal-data.ts does not cover')
  t.same(declared.filter((name) => !live.has(name)), [], 'tables in personal-data.ts that do not exist')
  for (const [name, entry] of personalTables(personalData)) {
    const columns = exportOf(entry)?.columns ?? []
    if (columns.length === 0) continue
    t.same(columns.filter((column) => !live.get(name)?.includes(column)), [], `exported columns of ${name} exist`)
    // Pages are read in its order; this throws if there is none.
    await findPrimaryKey(db as unknown as Kysely<never>, name)
  }
}

// Its texts are searched: it holds failures only.
const SEARCHED = ['failed_messages']

/** Checks that an erasure finds its rows, and those that go with them, by index, however many rows others have. */
export async function checkIndexes (t: Check, { db, personalData }: Pick<Service, 'db' | 'personalData'>) {
  const read = await db.transaction().execute(async (trx) => {
    // Postgres then reads a whole table only if no index has the condition, also if the table is empty.
    for (const scan of ['seqscan', 'indexscan', 'indexonlyscan']) {
      await sql.raw(`set local enable_${scan} = off`).execute(trx)
    }
    const tables: string[] = []
    for (const [name, { rowsOf }] of personalTables(personalData)) {
      const { rows } = await sql<{ 'QUERY PLAN': string }>`
        explain select from ${sql.table(name)} where ${rowsOf(randomUUID())}`.execute(trx)
      if (rows.some((line) => /Seq Scan/.test(line['QUERY PLAN']))) tables.push(name)
    }
    return tables
  })
  t.same(read.filter((name) => !SEARCHED.includes(name)), [], 'tables that are read as a whole')
  const { rows: keys } = await sql`
    select conname from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace
      and not exists (select from pg_index where indrelid = conrelid and indkey[0] = conkey[1])`.execute(db)
  t.same(keys, [], 'foreign keys without an index')
}

/**
 * Fills every personal table for one account, erases the account, and searches every column of every table for what is
 * left of it.
 */
export async function checkErasure (t: Check, { db, erasure, personalData, seed, mayNameIt = [] }: Coverage) {
  const people = createPeople(db)
  const { accountId, otherId, markers: { own: marker } } = people
  await seed(people)
  if ('idempotency_keys' in personalData) {
    // The response to somebody else.
    const response = JSON.stringify({ data: { participants: [{ id: accountId }] } })
    await people.insert('idempotency_keys', { account_id: otherId, response })
  }
  await seedByColumns({ erasure, personalData }, accountId, people.insert)
  const before = await erasure.verify(accountId)
  const tables = personalTables(personalData).map(([name]) => name)
  t.same(tables.filter((name) => !before.left[name]), [], 'personal tables without a row in this test')

  const tombstone = { account_id: accountId, erasure_id: randomUUID() }
  await db.insertInto('departures').values(tombstone).execute()
  await erasure.eraseDue()

  const row = await db.selectFrom('departures').where('account_id', '=', accountId).select(['rows', 'kept'])
    .executeTakeFirstOrThrow()
  t.same(row.rows, before.left, 'the counts are those of the rows before')
  t.same(row.kept, before.kept, 'what is kept is counted')
  t.same((await erasure.verify(accountId)).left, {}, 'a new count finds nothing')
  await db.updateTable('files_to_erase').set({ removed_at: sql<Date>`now() - interval '1 minute'` }).execute()
  await db.updateTable('departures').set({ next_pass_at: sql<Date>`now()` }).where('account_id', '=', accountId)
    .execute()
  await erasure.eraseDue()
  t.same(await findTraces(db, { accountId, marker }, mayNameIt), [], 'no column of any table names the account')
}

async function seedByColumns (
  { erasure, personalData }: Pick<Service, 'erasure' | 'personalData'>,
  accountId: string,
  insert: InsertRow
) {
  const { left } = await erasure.verify(accountId)
  for (const [name, { rowsOf: { columns: [column] = [] } }] of personalTables(personalData).reverse()) {
    if (column && !left[name]) await insert(name, { [column]: accountId })
  }
}

/**
 * Fills every personal table for one account, reads the copy of its data, and compares it with the tables: every
 * exported table is in it, with the account's own words, and nothing that others wrote or did.
 */
export async function checkExport (
  t: Check,
  { db, erasure, personalData, seed, mayNameOther }: Omit<Coverage, 'mayNameIt'> & {
    /** The tables whose copies name the other person, because the account chose or met them. */
    mayNameOther: string[]
  }
) {
  const people = createPeople(db)
  const { accountId, otherId, markers } = people
  const inserted: { table: string, row: Row }[] = []
  const insert: InsertRow = async (table, values) => {
    const row = await people.insert(table, values)
    inserted.push({ table, row })
    return row
  }
  await seed({ ...people, insert })
  await seedByColumns({ erasure, personalData }, accountId, insert)
  const things = await readAll(erasure, accountId)
  const exported = personalTables(personalData).filter(([, entry]) => exportOf(entry)).map(([name]) => name)
  t.same(exported.filter((name) => !things.has(name)), [], 'exported tables without a row in the copy')
  t.same([...things.keys()].filter((name) => !exported.includes(name)), [], 'tables in the copy that are not exported')
  for (const [name, rows] of things) {
    const text = JSON.stringify(rows)
    const columns = Object.keys(rows[0] ?? {})
    const isMarked = inserted.some(({ table, row }) =>
      table === name && columns.some((column) => JSON.stringify(row[column] ?? null).includes(markers.own))
    )
    if (isMarked) t.same(text.includes(markers.own), true, `the marker of ${name} is in the copy`)
    t.same(text.includes(markers.other), false, `nobody else's words are in ${name}`)
    if (!mayNameOther.includes(name)) t.same(text.includes(otherId), false, `${name} does not name the other person`)
  }
  t.same(await readAll(erasure, randomUUID()), new Map(), 'an unknown account has no copy')
}

async function readAll (erasure: AccountErasure, accountId: string) {
  const things = new Map<string, Row[]>()
  for (let after: string | null = null;;) {
    const page = await erasure.readPersonalData({ accountId, after })
    for (const { name, rows } of page.things) things.set(name, [...things.get(name) ?? [], ...rows])
    if (page.next === null) return things
    after = page.next
  }
}

function createPeople (db: Kysely<ErasureTables>): SeedPeople {
  const [accountId, otherId] = [randomUUID(), randomUUID()]
  const markers = { own: `marker-${randomUUID()}`, other: `marker-${randomUUID()}` }
  const [insertOwn, insertOther] = [createInsert(db, markers.own), createInsert(db, markers.other)]
  return {
    accountId,
    otherId,
    markers,
    async insert (table, values) {
      const first = Object.values(values).find((value) => value === accountId || value === otherId)
      return await (first === otherId ? insertOther : insertOwn)(table, values)
    }
  }
}

// Tombstones, receipts and events on their way name the account by its id alone, on purpose.
const NAME_IT = ['departures', 'outbox', 'erasures', 'accounts']

async function findTraces (
  db: Kysely<ErasureTables>,
  { accountId, marker }: { accountId: string, marker: string },
  mayNameIt: string[]
) {
  const nameIt = [...NAME_IT, ...mayNameIt]
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where ${isOwnTable}`.execute(db)
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

function createInsert (db: Kysely<ErasureTables>, marker: string): InsertRow {
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
    const row: Row = { ...Object.fromEntries(filled) as Row, ...await findReferences(db, table), ...values }
    const { rows: [inserted] } = await sql<Row>`
      insert into ${sql.table(table)} (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
      values (${sql.join(Object.values(row))}) returning *`.execute(db)
    return inserted!
  }
}

/** A value for each required column of a foreign key: of the first row that it can name. */
async function findReferences (db: Kysely<ErasureTables>, table: string): Promise<Row> {
  const { rows: references } = await sql<{ name: string, table: string, column: string }>`
    select own.attname as name, confrelid::regclass::text as table, other.attname as column from pg_constraint
      join pg_attribute own on own.attrelid = conrelid and own.attnum = conkey[1] and own.attnotnull
      join pg_attribute other on other.attrelid = confrelid and other.attnum = confkey[1]
    where contype = 'f' and conrelid = ${table}::regclass and cardinality(conkey) = 1`.execute(db)
  const row: Row = {}
  for (const { name, table, column } of references) {
    const { rows: [first] } = await sql<{ value: unknown }>`
      select ${sql.ref(column)} as value from ${sql.table(table)} limit 1`.execute(db)
    if (first) row[name] = first.value
  }
  return row
}
