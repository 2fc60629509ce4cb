import { MediaSigningKey } from '@tandem/media-url-kit'
import { buildInfo, ConfigError, List, readConfig, RootKeys, ProcessEnvironment, Url, Urls } from '@tandem/process-kit'
import { Type } from 'typebox'
import { addressVariables, HttpUrl, readAddresses } from './addresses.ts'
import { specialRoutes, writeLimits } from './routes.ts'
import type { Route } from './routes.ts'

const version = (description: string) => Type.String({ default: '1.0.0', pattern: '^\\d+(\\.\\d+){0,2}$', description })

const count = (standard: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: 1_000_000, default: standard, description })

const rate = '[1-9]\\d{0,6}/[1-9]\\d{0,4}[smh]'
const ratePattern = `^(off|${rate})$`
const ratesPattern = `^(off|${rate}(,${rate})*)$`

/** `POST /auth/login` is limited by LIMIT_AUTH_LOGIN. */
const variableOf = ({ path }: Route) => `LIMIT${path.toUpperCase().replaceAll(/[^A-Z]+/g, '_')}`

const limitedRoutes = specialRoutes.filter(({ limit }) => limit !== undefined)
const limitVariables = {
  ...Object.fromEntries(
    limitedRoutes.map((route) => [variableOf(route), Type.Optional(Type.String({ pattern: ratesPattern }))])
  ),
  ...Object.fromEntries(
    Object.entries(writeLimits).map(([name, limit]) => [name, Type.String({ default: limit, pattern: ratesPattern })])
  )
}

export const environment = Type.Object({
  ...ProcessEnvironment,
  IDENTITY_ROOT_PUBLIC_KEYS: RootKeys(),
  PORT: Type.Integer({ ...ProcessEnvironment.PORT, default: 8080 }),
  ...addressVariables,
  REDIS_URL: Url({ description: 'The Redis that counts attempts' }),
  PUBLIC_URL: Type.Optional(HttpUrl('The address at which clients reach the gateway')),
  CDN_URL: Type.Optional(
    HttpUrl(
      'The address at which clients reach uploaded media; unless its origin is that of PUBLIC_URL, another server serves it'
    )
  ),
  MEDIA_DIR: Type.Optional(Type.String({ description: 'The folder of uploaded media' })),
  MEDIA_SIGNING_KEY: Type.Optional(MediaSigningKey()),
  CORS_ORIGINS: List({ description: 'The web origins whose pages can call the API; default none' }),
  MIN_APP_VERSION_IOS: version('The oldest version of the app that is served; older ones are answered with 426'),
  MIN_APP_VERSION_ANDROID: version('The oldest version of the app that is served; older ones are answered with 426'),
  SERVER_VERSION: Type.String({ default: buildInfo.version, description: 'The server version that /meta reports' }),
  DOCS: Type.Enum(['on', 'off'], {
    type: 'string',
    default: 'on',
    description: 'Whether /docs and /openapi.json are served'
  }),
  DEVELOPER_NAME: Type.Optional(Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'The developer of the app, as the stores name them; by default legalName of the brand'
  })),
  SECURITY_CONTACT: List({
    description:
      'Where to report vulnerabilities: mailto: or https: addresses, the preferred one first; by default that of the brand'
  }),
  SECURITY_EXPIRES: Type.Optional(
    Type.String({ format: 'date-time', description: 'When security.txt expires; default half a year from now' })
  ),
  IOS_STORE_URL: Type.Optional(Url({ description: 'Where to get the iOS app: the page of an invitation links to it' })),
  ANDROID_STORE_URL: Type.Optional(Url({ description: 'Where to get the Android app' })),
  IOS_APP_IDS: List({
    description: 'The iOS apps that open links of this address, such as ABCDE12345.com.example.fit; default none'
  }),
  ANDROID_APPS: List({
    description: 'The Android apps that open them, such as com.example.fit=AB:CD:…, the SHA-256 of their certificate'
  }),
  FLOOD_LIMIT: Type.String({
    default: '6000/1m',
    pattern: ratePattern,
    description: 'The request limit of one client address over all routes'
  }),
  NATS_URL: Type.Optional(
    Urls({ description: 'NATS, for realtime signals; without it realtime connections look for news every 5 s' })
  ),
  REALTIME_MAX_CONNECTIONS: count(10_000, 'Realtime connections of this process'),
  REALTIME_MAX_PER_ACCOUNT: count(10, 'Realtime connections of one account; one more closes the oldest'),
  REALTIME_MAX_PER_SESSION: count(3, 'Realtime connections of one session; one more closes the oldest'),
  REALTIME_MAX_PER_ADDRESS: count(500, 'Realtime connections of one client address'),
  REALTIME_OPENS_PER_MINUTE: count(30, 'How often one account can open a realtime connection in a minute'),
  REALTIME_OPENS_PER_SECOND: count(500, 'How many realtime connections are opened in a second'),
  REALTIME_DRAIN_SECONDS: Type.Integer({
    minimum: 0,
    maximum: 60,
    default: 2,
    description: 'Over which time a stopping process asks its realtime connections to move'
  }),
  LIMIT_PROFILE: Type.Enum(['standard', 'relaxed'], {
    type: 'string',
    default: 'standard',
    description: 'relaxed: 100 times the limits of /auth, for local development'
  }),
  NODE_ENV: Type.Optional(Type.String()),
  ...limitVariables
})

/** At most `max` attempts in a window of `windowMs`. */
export interface Limit {
  max: number
  windowMs: number
}

const RELAXED_FACTOR = 100

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000 }

function readLimit (text: string): Limit | undefined {
  const [, max, count, unit] = /^(\d+)\/(\d+)([smh])$/.exec(text) ?? []
  return max && count && unit
    ? { max: Number(max), windowMs: Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS] }
    : undefined
}

/** The limits in `text`, the shortest window first. */
const readLimits = (text: string) =>
  text.split(',').flatMap((each) => readLimit(each) ?? []).sort((a, b) => a.windowMs - b.windowMs)

// A misspelt limit would silently leave the default in place.
const findUnknownLimits = (env: NodeJS.ProcessEnv) =>
  Object.keys(env)
    .filter((name) => name.startsWith('LIMIT_') && name !== 'LIMIT_PROFILE' && !(name in limitVariables))
    .map((name) => `${name} is not a limit; the limits are ${Object.keys(limitVariables).join(', ')}`)

const findInvalidOrigins = ({ CORS_ORIGINS }: { CORS_ORIGINS: string[] }) =>
  CORS_ORIGINS.every((origin) => origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin))
    ? []
    : ['CORS_ORIGINS must be origins such as https://app.example.org, separated by commas']

const findInvalidContacts = ({ SECURITY_CONTACT }: { SECURITY_CONTACT: string[] }) =>
  SECURITY_CONTACT.every((contact) => /^(mailto:[^\s@]+@|https:\/\/|tel:\+)[^\s]+$/.test(contact))
    ? []
    : ['SECURITY_CONTACT must be addresses that begin with mailto:, https:// or tel:+, separated by commas']

const findInvalidApps = ({ IOS_APP_IDS, ANDROID_APPS }: { IOS_APP_IDS: string[], ANDROID_APPS: string[] }) => [
  ...IOS_APP_IDS.every((id) => /^[A-Z0-9]{10}\.[\w.-]+$/.test(id))
    ? []
    : ['IOS_APP_IDS must be team and bundle ids such as ABCDE12345.com.example.fit, separated by commas'],
  ...ANDROID_APPS.every((each) => /^[\w.]+=(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/.test(each))
    ? []
    : ['ANDROID_APPS must be packages and SHA-256 fingerprints such as com.example.fit=AB:CD:…, separated by commas']
]

function readVariables (env: NodeJS.ProcessEnv) {
  const problems = findUnknownLimits(env)
  try {
    const config = readConfig(environment, env)
    problems.push(...findInvalidOrigins(config), ...findInvalidContacts(config), ...findInvalidApps(config))
    if (config.LIMIT_PROFILE === 'relaxed' && config.NODE_ENV === 'production') {
      problems.push('LIMIT_PROFILE must not be relaxed where NODE_ENV is production')
    }
    if (problems.length === 0) return config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    problems.unshift(
      error.message.replaceAll(
        /^(\w*LIMIT\w*) must match .*/gm,
        '$1 must be attempts per time, such as 5/60s or 3/1h, or off'
      )
    )
  }
  throw new ConfigError(problems.join('\n'))
}

export type Config = ReturnType<typeof readGatewayConfig>

/** Throws a ConfigError that names every missing or invalid variable. */
export function readGatewayConfig (env: NodeJS.ProcessEnv = process.env) {
  const config = readVariables(env)
  const variables = config as Record<string, unknown>
  const factor = config.LIMIT_PROFILE === 'relaxed' ? RELAXED_FACTOR : 1
  // The factor does not apply to a limit that is set explicitly.
  const limitsOf = (route: Route) =>
    typeof variables[variableOf(route)] === 'string'
      ? readLimits(String(variables[variableOf(route)]))
      : readLimits(route.limit ?? 'off').map(({ max, windowMs }) => ({ max: max * factor, windowMs }))
  return {
    ...config,
    upstreams: readAddresses(variables),
    /** By method and path, such as `POST /auth/login`; the shortest window first. */
    limits: new Map(limitedRoutes.flatMap((route) => {
      const limits = limitsOf(route)
      return limits.length > 0 ? route.methods.map((method) => [`${method} ${route.path}`, limits] as const) : []
    })),
    /** Write limits of one account, by variable. */
    writeLimits: new Map(Object.keys(writeLimits).map((name) => [name, readLimits(String(variables[name]))])),
    isProduction: config.NODE_ENV === 'production',
    /** Whether a 429 tells callers on this machine how to lift the limit. */
    showsLimitRemedy: config.NODE_ENV !== 'production' && config.LIMIT_PROFILE !== 'relaxed',
    floodLimit: readLimit(config.FLOOD_LIMIT)
  }
}
