import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import pg from 'pg'
import { findPrimary } from './hosts.ts'
import { TIMEOUTS_MS } from './timeouts.ts'

/**
 * Gives a service its own role and schema, and takes from it every right on another's. Run again, it only resets the
 * password.
 * @param adminUrl a connection that may create roles and schemas
 * @returns the service's own connection URL
 */
export async function provision (adminUrl: string, service: string, password: string) {
  const user = `tandem_${service}`
  const client = new pg.Client({ connectionString: await findPrimary(adminUrl), connectionTimeoutMillis: 30_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    const role = client.escapeIdentifier(user)
    const schema = client.escapeIdentifier(service)
    await client.query('begin')
    // Six services provisioned at once would otherwise write the same catalogue rows.
    await client.query("select pg_advisory_xact_lock(hashtext('tandem.provision'))")
    const known = await client.query('select from pg_roles where rolname = $1', [user])
    await client.query(
      `${known.rowCount ? 'alter' : 'create'} role ${role} login password ${
        client.escapeLiteral(hashPassword(password))
      }`
    )
    await client.query(`alter role ${role} set search_path = ${schema}`)
    // A pooler such as PgBouncer drops the timeouts that a connection asks for.
    await client.query(`alter role ${role} set statement_timeout = ${TIMEOUTS_MS.statement}`)
    await client.query(`alter role ${role} set lock_timeout = ${TIMEOUTS_MS.lock}`)
    await client.query(`alter role ${role} set idle_in_transaction_session_timeout = ${TIMEOUTS_MS.idleInTransaction}`)
    // Outside a superuser's hands, a schema can only be made for a role that its maker belongs to.
    await client.query(`grant ${role} to current_user`)
    await client.query(`create schema if not exists ${schema} authorization ${role}`)
    await client.query('revoke all on schema public from public')
    await client.query('commit')
  } finally {
    await client.end()
  }

  // Of several hosts, no URL can be parsed.
  return adminUrl.replace(/^(\w+:\/\/)(?:[^@/]*@)?/, `$1${user}:${encodeURIComponent(password)}@`)
}

const ITERATIONS = 4_096

/** What Postgres stores of a password. It is hashed here because the log of Postgres shows a statement that fails. */
function hashPassword (password: string) {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256')
  const keyOf = (name: string) => createHmac('sha256', salted).update(`${name} Key`).digest()
  const storedKey = createHash('sha256').update(keyOf('Client')).digest('base64')
  const serverKey = keyOf('Server').toString('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`
}
