import { deleteInChunks } from '@tandem/database-kit'
import { readApp } from '@tandem/http-kit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql, type Kysely } from 'kysely'
import type { CallTables } from './tables.ts'

const STORE_INTERVAL_MS = 60_000
const KEPT_DAYS = 90
/** Clients choose their version. Each further one of a day is counted together, so that nobody can fill the table. */
const MAX_VERSIONS = 100

interface Count {
  day: string
  operation: string
  platform: string
  app_version: string
  calls: number
  errors: number
}

/** Counts the calls of each operation by app version in memory, and stores them every minute and at the end. */
export function countCalls (app: FastifyInstance, db: Kysely<CallTables>) {
  let counts = new Map<string, Count>()
  let versions = { day: '', names: new Set<string>() }
  let storing = Promise.resolve()

  app.addHook('onResponse', (request, reply, done) => {
    const { schema } = request.routeOptions
    const operation = schema?.operationId
    if (operation !== undefined) {
      const day = new Date().toISOString().slice(0, 10)
      if (versions.day !== day) versions = { day, names: new Set() }
      const [platform, appVersion] = readClient(request.headers, versions.names)
      const key = `${day} ${operation} ${platform} ${appVersion}`
      const count = counts.get(key) ?? { day, operation, platform, app_version: appVersion, calls: 0, errors: 0 }
      counts.set(key, count)
      count.calls++
      if (reply.statusCode >= 400) count.errors++
    }
    done()
  })

  async function store () {
    const taken = [...counts.values()]
    counts = new Map()
    try {
      await addCalls(db, taken)
    } catch (error) {
      app.log.warn({ err: error }, 'calls by app version were not stored')
    }
  }
  const storeInTurn = () => (storing = storing.then(store))
  const timer = setInterval(storeInTurn, STORE_INTERVAL_MS).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    await storeInTurn()
  })
  return storeInTurn
}

/** The platform and version of the app; `unknown` without one that can be read. */
function readClient (headers: FastifyRequest['headers'], known: Set<string>): [platform: string, appVersion: string] {
  const { platform = 'unknown', version } = readApp(headers)
  if (!version) return [platform, 'unknown']
  const appVersion = version.join('.')
  const name = `${platform} ${appVersion}`
  if (!known.has(name) && known.size >= MAX_VERSIONS) return [platform, 'other']
  known.add(name)
  return [platform, appVersion]
}

async function addCalls (db: Kysely<CallTables>, counts: Count[]) {
  if (counts.length === 0) return
  // In one order, so that two processes do not deadlock.
  await sql`
    insert into operation_calls as stored (day, operation, platform, app_version, calls, errors)
    select day, operation, platform, app_version, calls, errors
    from json_populate_recordset(null::operation_calls, ${JSON.stringify(counts)})
    order by day, operation, platform, app_version
    on conflict (day, operation, platform, app_version) do update set
      calls = stored.calls + excluded.calls, errors = stored.errors + excluded.errors`.execute(db)
}

export const deleteOldCalls = async (db: Kysely<CallTables>) =>
  await deleteInChunks(db, 'operation_calls', sql`day < current_date - ${sql.lit(KEPT_DAYS)} order by day`)

const sums = [sql<number>`sum(calls)::bigint`.as('calls'), sql<number>`sum(errors)::bigint`.as('errors')] as const

/** The operations that were called in 90 days, the most calls first. */
export const listCalls = async (db: Kysely<CallTables>) =>
  await db.selectFrom('operation_calls')
    .select([
      'operation',
      ...sums,
      sql<string>`max(day)::text`.as('lastDay'),
      sql<number>`count(distinct (platform, app_version))::int`.as('versions')
    ])
    .groupBy('operation').orderBy('calls', 'desc').execute()

/** The versions that called an operation in 90 days, the latest call first. */
export const listCallers = async (db: Kysely<CallTables>, operation: string) =>
  await db.selectFrom('operation_calls').where('operation', '=', operation)
    .select(['platform', 'app_version as appVersion', ...sums, sql<string>`max(day)::text`.as('lastDay')])
    .groupBy(['platform', 'app_version'])
    .orderBy('lastDay', 'desc').orderBy('calls', 'desc').limit(500).execute()
