import { accessSync, constants, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import path from 'node:path'
import { UserError } from '@tandem/local-servers/screen.ts'
import { LOG_LEVELS } from '@tandem/process-kit'

export interface Settings {
  /** Undefined if PORT is not set: then the first free port from 8080 on. */
  port: number | undefined
  host: string
  /** The developer page. Undefined if DEV_PORT is not set: then the first free port from 8025 on. */
  devPort: number | undefined
  /** The operators' console. Undefined if CONSOLE_PORT is not set: then the first free port from 8090 on. */
  consolePort: number | undefined
  /** The address in the local network, with --lan. */
  lanAddress: string | undefined
  dataDir: string
  databaseUrl: string | undefined
  redisUrl: string | undefined
  natsUrl: string | undefined
  smtpUrl: string | undefined
  publicUrl: string | undefined
  cdnUrl: string | undefined
  trustProxy: string
  /** The size of each stream of NATS. */
  streamMaxMib: number
  metrics: boolean
  /** All other variables, passed on to every process. */
  rest: NodeJS.ProcessEnv
}

type Check = (value: string) => string | false

const checks: Record<string, Check> = {
  PORT: (value) => !isPort(value) && 'must be a port, 1 to 65535',
  DEV_PORT: (value) => !isPort(value) && 'must be a port, 1 to 65535',
  CONSOLE_PORT: (value) => !isPort(value) && 'must be a port, 1 to 65535',
  HOST: (value) => /[\s/]/.test(value) && 'must be an address to listen on, such as 127.0.0.1 or 0.0.0.0',
  LOG_LEVEL: (value) => !LOG_LEVELS.some((each) => each === value) && `must be one of ${LOG_LEVELS.join(', ')}`,
  TRUST_PROXY: (value) =>
    !value.split(',').every((each) => isNetwork(each.trim())) &&
    'must be addresses or CIDR ranges, separated by commas',
  DATABASE_URL: url('postgres', 'postgresql'),
  REDIS_URL: url('redis', 'rediss'),
  NATS_URL: url('nats', 'tls'),
  SMTP_URL: url('smtp', 'smtps'),
  PUBLIC_URL: url('http', 'https'),
  CDN_URL: url('http', 'https'),
  PROVIDER_A_JWKS_URL: url('http', 'https'),
  PROVIDER_B_JWKS_URL: url('http', 'https'),
  FCM_BASE_URL: url('http', 'https'),
  STREAM_MAX_MIB: (value) => !/^[1-9]\d{0,4}$/.test(value) && 'must be a number of MiB, 1 to 99999',
  FCM_SERVICE_ACCOUNT_FILE: serviceAccount,
  METRICS_PORT: (value) => value !== '0' && 'must be 0: nine processes cannot share a port'
}

/** Reads the environment variables. @throws UserError that names every invalid variable, a line each */
export function readSettings (environment: NodeJS.ProcessEnv, root: string, lanAddress?: string): Settings {
  // An empty variable counts as not set, as in a compose file's `${PORT:-}`.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  if (given['TRUST_PROXY'] === 'off') delete given['TRUST_PROXY']

  const problems = Object.entries(checks).flatMap(([name, check]) => {
    const problem = given[name] !== undefined && check(given[name])
    return problem ? [`${name} ${problem}, not ${JSON.stringify(given[name])}`] : []
  })
  if (problems.length > 0) throw new UserError(problems.join('\n  '))

  const {
    PORT,
    HOST,
    DEV_PORT,
    CONSOLE_PORT,
    DATA_DIR,
    DATABASE_URL,
    REDIS_URL,
    NATS_URL,
    SMTP_URL,
    PUBLIC_URL,
    CDN_URL,
    TRUST_PROXY,
    STREAM_MAX_MIB,
    METRICS_PORT,
    ...rest
  } = given
  return {
    port: PORT ? Number(PORT) : undefined,
    host: HOST ?? (lanAddress ? '0.0.0.0' : '127.0.0.1'),
    devPort: DEV_PORT ? Number(DEV_PORT) : undefined,
    consolePort: CONSOLE_PORT ? Number(CONSOLE_PORT) : undefined,
    lanAddress,
    dataDir: path.resolve(root, DATA_DIR ?? '.data'),
    databaseUrl: DATABASE_URL,
    redisUrl: REDIS_URL,
    natsUrl: NATS_URL,
    smtpUrl: SMTP_URL,
    publicUrl: PUBLIC_URL?.replace(/\/+$/, ''),
    cdnUrl: CDN_URL?.replace(/\/+$/, ''),
    trustProxy: TRUST_PROXY ?? '',
    // NATS reserves it for each of the streams, of what the disk has left.
    streamMaxMib: Number(STREAM_MAX_MIB ?? 32),
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
  return family !== 0 && more.length === 0 &&
    (bits === undefined || /^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
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
    return ['client_email', 'private_key'].some((key) => typeof account[key] !== 'string') &&
      'must be a service account file of the push provider'
  } catch (error) {
    return `must be a readable JSON file (${(error as Error).message})`
  }
}
