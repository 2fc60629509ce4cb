import path from 'node:path'
import type { ClientBase } from 'pg'
import { migrate, provision } from '@tandem/database-kit'
import type { Database } from './postgres.ts'

const root = path.resolve(import.meta.dirname, '../../..')

/** The row count and a digest of the rows, by table. */
export type Digest = Record<string, string>

export interface SchemaBackup {
  service: string
  folder: string
  sequences: Record<string, string>
  digest: Digest
}

/**
 * Copies the rows of a service's schema and computes their digest, both in one snapshot, while the service is running.
 * It stands for `pg_dump --schema`, which is not among the programs that npm installs.
 */
export async function copySchema (database: Database, service: string): Promise<SchemaBackup> {
  const folder = await database.createFolder(service)
  return await database.withClient(async (client) => {
    await client.query('begin isolation level repeatable read read only')
    for (const table of await listTables(client, [service])) {
      // A partitioned table itself has no rows to copy; those of its partitions are copied through it.
      const columns = await listColumns(client, table)
      await client.query(`copy (select ${columns} from ${table}) to '${path.join(folder, table)}' (format binary)`)
    }
    const digest = await computeDigest(client, [service])
    // After the rows, because sequences are not part of a snapshot: none may continue below an id that is in use.
    const { rows } = await client.query<{ name: string, value: string }>(
      `select format('%I.%I', schemaname, sequencename) as name, last_value as value
       from pg_sequences where schemaname = $1 and last_value is not null`,
      [service]
    )
    return { service, folder, digest, sequences: Object.fromEntries(rows.map(({ name, value }) => [name, value])) }
  })
}

/**
 * Drops the schema, creates it with the migrations of the service, and copies the rows of the backup into it.
 * @returns the transaction, which is the `xmin` of a row until it is changed
 */
export async function restoreSchema (database: Database, { service, folder, sequences }: SchemaBackup) {
  return await database.withClient(async (client) => {
    await client.query(`drop schema ${service} cascade`)
    await migrate(await provision(database.url, service, 'restored'), path.join(root, 'services', service))
    const tables = await listTables(client, [service])
    await client.query('begin')
    // Without checks of foreign keys, so that tables can be copied in any order.
    await client.query('set local session_replication_role = replica')
    await client.query(`truncate ${tables.join()}`)
    for (const table of tables) {
      const columns = await listColumns(client, table)
      await client.query(`copy ${table} (${columns}) from '${path.join(folder, table)}' (format binary)`)
    }
    for (const [name, value] of Object.entries(sequences)) await client.query('select setval($1, $2)', [name, value])
    const { rows: [transaction] } = await client.query<{ xmin: string }>(
      'select pg_current_xact_id()::xid::text as xmin'
    )
    await client.query('commit')
    return transaction!.xmin
  })
}

/** Lets events continue ahead of every number that consumers may have seen. */
export async function raiseEventNumbers (database: Database, services: readonly string[]) {
  await database.withClient(async (client) => {
    for (const service of services) {
      await client.query(`select setval('${service}.outbox_seq_seq', (extract(epoch from now()) * 1000000)::bigint)`)
    }
  })
}

export async function computeDigest (client: ClientBase, services: readonly string[]): Promise<Digest> {
  const digest: Digest = {}
  for (const table of await listTables(client, services)) {
    const { rows: [row] } = await client.query<{ digest: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(md5(row::text), '' order by md5(row::text))), '') as digest
       from ${table} as row`
    )
    digest[table] = row!.digest
  }
  return digest
}

/** Without generated columns, into which nothing can be copied: Postgres computes them again. */
async function listColumns (client: ClientBase, table: string) {
  const { rows: [row] } = await client.query<{ columns: string }>(
    `select string_agg(quote_ident(attname), ', ' order by attnum) as columns from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table]
  )
  return row!.columns
}

async function listTables (client: ClientBase, services: readonly string[]) {
  const { rows } = await client.query<{ name: string }>(
    `select format('%I.%I', relnamespace::regnamespace, relname) as name from pg_class
     where relnamespace::regnamespace::text = any($1) and relkind in ('r', 'p') and not relispartition order by 1`,
    [services]
  )
  return rows.map(({ name }) => name)
}
