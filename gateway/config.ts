import { ConfigError, List, MediaSigningKey, readConfig, RootKeys, ServiceEnvironment, Url } from '@tandem/service-kit'
import { Type } from 'typebox'
import { specialRoutes, writeLimits } from './routes.ts'
import type { Route, Service } from './routes.ts'

const version = (description: string) => Type.String({ default: '1.0.0', pattern: '^\\d+(\\.\\d+){0,2}$', description })

const once = '[1-9]\\d{0,6}/[1-9]\\d{0,4}[smh]'
const frequency = `^(off|${once})$`
const frequencies = `^(off|${once}(,${once})*)$`

/** `POST /auth/login` is limited by LIMIT_AUTH_LOGIN. */
const variableOf = ({ path }: Route) => `LIMIT${path.toUpperCase().replaceAll(/[^A-Z]+/g, '_')}`

const limited = specialRoutes.filter(({ limit }) => limit !== undefined)
const limitVariables = {
  ...Object.fromEntries(limited.map((route) => [variableOf(route), Type.Optional(Type.String({ pattern: frequencies }))])),
  ...Object.fromEntries(Object.entries(writeLimits).map(([name, limit]) => [name, Type.String({ default: limit, pattern: frequencies })]))
}

const ofHttp = (description: string) => Url({ pattern: '^https?://', description })

const environment = Type.Object({
  ...ServiceEnvironment,
  IDENTITY_ROOT_PUBLIC_KEYS: RootKeys(),
  PORT: Type.Integer({ ...ServiceEnvironment.PORT, default: 8080 }),
  IDENTITY_URL: ofHttp('Where identity answers'),
  PROFILE_URL: ofHttp('Where profile answers'),
  SOCIAL_URL: ofHttp('Where social answers'),
  FITMATCH_URL: ofHttp('Where fitmatch answers'),
  DASHBOARD_URL: ofHttp('Where dashboard answers'),
  NOTIFICATION_URL: ofHttp('Where notification answers'),
  REDIS_URL: Url({ description: 'Where attempts are counted' }),
  PUBLIC_URL: Type.Optional(ofHttp('How clients reach the gateway')),
  CDN_URL: Type.Optional(ofHttp('How clients reach uploaded media; on another origin than PUBLIC_URL, another server serves them')),
  MEDIA_DIR: Type.Optional(Type.String({ description: 'The folder of uploaded media' })),
  MEDIA_SIGNING_KEY: Type.Optional(MediaSigningKey()),
  CORS_ORIGINS: List({ description: 'The web origins whose pages may call; none unless set' }),
  MIN_APP_VERSION_IOS: version('The oldest app that may still be used'),
  MIN_APP_VERSION_ANDROID: version('The oldest app that may still be used'),
  SERVER_VERSION: Type.String({ default: '1.0.0', description: 'What runs here, as /meta tells it' }),
  DOCS: Type.Enum(['on', 'off'], { type: 'string', default: 'on', description: 'Whether /docs and /openapi.json are served' }),
  SECURITY_CONTACT: List({ default: 'mailto:security@tandem.example', description: 'Where vulnerabilities are reported: mailto: or https: addresses, the preferred one first' }),
  SECURITY_EXPIRES: Type.Optional(Type.String({ format: 'date-time', description: 'Until when security.txt holds; half a year from now unless set' })),
  FLOOD_LIMIT: Type.String({ default: '6000/1m', pattern: frequency, description: 'How often one client address may ask, all routes together' }),
  LIMIT_PROFILE: Type.Enum(['standard', 'relaxed'], { type: 'string', default: 'standard', description: 'relaxed: 100 times the limits of /auth, for work on one machine' }),
  NODE_ENV: Type.Optional(Type.String()),
  ...limitVariables
})

/** So many attempts in so many milliseconds. */
export interface Limit { max: number, window: number }

const relaxedFactor = 100

const units = { s: 1_000, m: 60_000, h: 3_600_000 }

function readLimit (text: string): Limit | undefined {
  const [, max, count, unit] = /^(\d+)\/(\d+)([smh])$/.exec(text) ?? []
  return max && count && unit ? { max: Number(max), window: Number(count) * units[unit as keyof typeof units] } : undefined
}

/** The limits in `text`, the shortest time first. */
const readLimits = (text: string) => text.split(',').flatMap((each) => readLimit(each) ?? []).sort((a, b) => a.window - b.window)

// A limit that is misspelt would silently leave the number as it was.
const findStrangers = (env: NodeJS.ProcessEnv) => Object.keys(env)
  .filter((name) => name.startsWith('LIMIT_') && name !== 'LIMIT_PROFILE' && !(name in limitVariables))
  .map((name) => `${name} is no limit; there are ${Object.keys(limitVariables).join(', ')}`)

const findWrongOrigins = ({ CORS_ORIGINS }: { CORS_ORIGINS: string[] }) =>
  CORS_ORIGINS.every((origin) => origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin))
    ? []
    : ['CORS_ORIGINS must be origins such as https://app.example.org, separated by commas']

const findWrongContacts = ({ SECURITY_CONTACT }: { SECURITY_CONTACT: string[] }) =>
  SECURITY_CONTACT.every((contact) => /^(mailto:[^\s@]+@|https:\/\/|tel:\+)[^\s]+$/.test(contact)) ? [] : ['SECURITY_CONTACT must be addresses that begin with mailto:, https:// or tel:+, separated by commas']

function read (env: NodeJS.ProcessEnv) {
  const wrong = findStrangers(env)
  try {
    const config = readConfig(environment, env)
    wrong.push(...findWrongOrigins(config), ...findWrongContacts(config))
    if (config.LIMIT_PROFILE === 'relaxed' && config.NODE_ENV === 'production') wrong.push('LIMIT_PROFILE must not be relaxed where NODE_ENV is production')
    if (wrong.length === 0) return config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    wrong.unshift(error.message.replaceAll(/^(\w*LIMIT\w*) does not have the right form$/gm, '$1 must be so many attempts in a time, such as 5/60s or 3/1h, or off'))
  }
  throw new ConfigError(wrong.join('\n'))
}

export type Config = ReturnType<typeof readGatewayConfig>

/** Throws a ConfigError that names every variable that is missing or wrong. */
export function readGatewayConfig (env: NodeJS.ProcessEnv = process.env) {
  const { IDENTITY_URL, PROFILE_URL, SOCIAL_URL, FITMATCH_URL, DASHBOARD_URL, NOTIFICATION_URL, ...config } = read(env)
  const variables = config as Record<string, unknown>
  const factor = config.LIMIT_PROFILE === 'relaxed' ? relaxedFactor : 1
  // A limit that is set is meant as it is.
  const limitsOf = (route: Route) => typeof variables[variableOf(route)] === 'string'
    ? readLimits(String(variables[variableOf(route)]))
    : readLimits(route.limit ?? 'off').map(({ max, window }) => ({ max: max * factor, window }))
  return {
    ...config,
    upstreams: {
      identity: IDENTITY_URL,
      profile: PROFILE_URL,
      social: SOCIAL_URL,
      fitmatch: FITMATCH_URL,
      dashboard: DASHBOARD_URL,
      notification: NOTIFICATION_URL
    } satisfies Record<Service, string>,
    /** By method and path, such as `POST /auth/login`; the shortest time first. */
    limits: new Map(limited.flatMap((route) => {
      const limits = limitsOf(route)
      return limits.length > 0 ? route.methods.map((method) => [`${method} ${route.path}`, limits] as const) : []
    })),
    /** Of one account, by variable. */
    writeLimits: new Map(Object.keys(writeLimits).map((name) => [name, readLimits(String(variables[name]))])),
    isProduction: config.NODE_ENV === 'production',
    /** Whether a refusal tells callers on this machine how to lift a limit. */
    explainsLimits: config.NODE_ENV !== 'production' && config.LIMIT_PROFILE !== 'relaxed',
    flood: readLimit(config.FLOOD_LIMIT)
  }
}

