// Brings one service's schema up to date, before its processes start: run by the launcher, a compose file or a
// Kubernetes Job.
import path from 'node:path'
import { splitHosts } from './hosts.ts'
import { migrate } from './migrate.ts'
import { provision } from './provision.ts'
import { readVariable } from '@tandem/process-kit'

const usage = `usage: node packages/database-kit/cli.ts <service's folder>

  DATABASE_URL        the service's own connection
  ADMIN_DATABASE_URL  if given, the service's role and schema are made first, with the password that DATABASE_URL holds
  Either may be in a file: DATABASE_URL_FILE, ADMIN_DATABASE_URL_FILE.`

const [folder] = process.argv.slice(2)
const [url, admin] = [readUrl('DATABASE_URL'), readUrl('ADMIN_DATABASE_URL')]
if (!folder || !url) fail(usage)

try {
  const service = path.basename(path.resolve(folder))
  if (admin) await provision(admin, service, passwordOf(url))
  await migrate(url, path.resolve(folder))
  console.log(`${service} is up to date`)
} catch (error) {
  const { message, cause } = error as Error
  fail(`${message}${cause instanceof Error ? `: ${cause.message}` : ''}`)
}

function readUrl (name: string) {
  try {
    const url = readVariable(name)
    if (url) passwordOf(url)
    return url
  } catch (error) {
    fail(
      `${name} cannot be read: ${(error as Error).message}. It is postgres://user:password@host, with % written as %25.`
    )
  }
}

function passwordOf (url: string) {
  return decodeURIComponent(new URL(splitHosts(url)[0] ?? url).password)
}

function fail (reason: string): never {
  console.error(reason)
  process.exit(1)
}
