import { accessSync, constants, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import path from 'node:path'
import { Refusal } from './screen.ts'

export interface Settings {
  /** Undefined when the operator left the choice open: then the first free port from 8080 on. */
  port: number | undefined
  host: string
  dataDir: string
  databaseUrl: string | undefined
  redisUrl: string | undefined
  natsUrl: string | undefined
  smtpUrl: string | undefined
  publicUrl: string | undefined
  cdnUrl: string | undefined
  trustProxy: string
  metrics: boolean
  /** Everything else that is set, for every process to pick from. */
  rest: NodeJS.ProcessEnv
}

type Check = (value: string) => string | false

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

const checks: Record<string, Check> = {
  PORT: (value) => !isPort(value) && 'must be a port, 1 to 65535',
  HOST: (value) => /[\s/]/.test(value) && 'must be an address to listen on, such as 127.0.0.1 or 0.0.0.0',
  LOG_LEVEL: (value) => !LEVELS.includes(value) && `must be one of ${LEVELS.join(', ')}`,
  TRUST_PROXY: (value) => !value.split(',').every((each) => isNetwork(each.trim())) && 'must be addresses or CIDRs with commas between them',
  DATABASE_URL: url('postgres', 'postgresql'),
  REDIS_URL: url('redis', 'rediss'),
  NATS_URL: url('nats', 'tls'),
  SMTP_URL: url('smtp', 'smtps'),
  PUBLIC_URL: url('http', 'https'),
  CDN_URL: url('http', 'https'),
  PROVIDER_A_JWKS_URL: url('http', 'https'),
  PROVIDER_B_JWKS_URL: url('http', 'https'),
  FCM_BASE_URL: url('http', 'https'),
  FCM_SERVICE_ACCOUNT_FILE: serviceAccount,
  METRICS_PORT: (value) => value !== '0' && 'can only be 0 here: eight processes cannot share a port'
}

/** Reads what the operator said. @throws Refusal that names every bad variable, a line each */
export function readSettings (environment: NodeJS.ProcessEnv, root: string): Settings {
  // A variable set to nothing is one not set, as in a compose file's `${PORT:-}`.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  if (given['TRUST_PROXY'] === 'off') delete given['TRUST_PROXY']

  const faults = Object.entries(checks).flatMap(([name, check]) => {
    const fault = given[name] !== undefined && check(given[name])
    return fault ? [`${name} ${fault}, not ${JSON.stringify(given[name])}`] : []
  })
  if (faults.length > 0) throw new Refusal(faults.join('\n  '))

  const { PORT, HOST, DATA_DIR, DATABASE_URL, REDIS_URL, NATS_URL, SMTP_URL, PUBLIC_URL, CDN_URL, TRUST_PROXY, METRICS_PORT, ...rest } = given
  return {
    port: PORT ? Number(PORT) : undefined,
    host: HOST ?? '127.0.0.1',
    dataDir: path.resolve(root, DATA_DIR ?? '.data'),
    databaseUrl: DATABASE_URL,
    redisUrl: REDIS_URL,
    natsUrl: NATS_URL,
    smtpUrl: SMTP_URL,
    publicUrl: PUBLIC_URL?.replace(/\/+$/, ''),
    cdnUrl: CDN_URL?.replace(/\/+$/, ''),
    trustProxy: TRUST_PROXY ?? '',
    metrics: METRICS_PORT === '0',
    rest
  }
}

function isPort (value: string): boolean {
  return /^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535
}

function isNetwork (value: string): boolean {
  const [address = '', bits, ...more] = value.split('/')
  const family = isIP(address)
  return family !== 0 && more.length === 0 && (bits === undefined || /^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

function url (...schemes: string[]): Check {
  return (value) => {
    const scheme = URL.canParse(value) && new URL(value).protocol.slice(0, -1)
    return (!scheme || !schemes.includes(scheme) || !new URL(value).hostname) && `must be a URL like ${schemes[0]}://…`
  }
}

function serviceAccount (file: string): string | false {
  try {
    accessSync(file, constants.R_OK)
    const account = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    return ['client_email', 'private_key'].some((key) => typeof account[key] !== 'string') && 'must be the service account file of the push provider'
  } catch (error) {
    return `must be a readable JSON file (${(error as Error).message})`
  }
}
