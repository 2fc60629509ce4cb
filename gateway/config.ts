import { ConfigError, List, readConfig, ServiceEnvironment, Url } from '@tandem/service-kit'
import { Type } from 'typebox'
import { specialRoutes } from './routes.ts'
import type { Route, Service } from './routes.ts'

const version = (description: string) => Type.String({ default: '1.0.0', pattern: '^\\d+(\\.\\d+){0,2}$', description })

const frequency = '^(off|[1-9]\\d{0,6}/[1-9]\\d{0,4}[smh])$'

/** `POST /auth/login` is limited by LIMIT_AUTH_LOGIN. */
export const variableOf = ({ path }: Route) => `LIMIT${path.toUpperCase().replaceAll(/[^A-Z]+/g, '_')}`

const limited = specialRoutes.filter(({ limit }) => limit !== undefined)
const limitVariables = Object.fromEntries(limited.map((route) =>
  [variableOf(route), Type.String({ default: route.limit, pattern: frequency })]))

const ofHttp = (description: string) => Url({ pattern: '^https?://', description })

const environment = Type.Object({
  ...ServiceEnvironment,
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
  CORS_ORIGINS: List({ description: 'The web origins whose pages may call; none unless set' }),
  MIN_APP_VERSION_IOS: version('The oldest app that may still be used'),
  MIN_APP_VERSION_ANDROID: version('The oldest app that may still be used'),
  SERVER_VERSION: Type.String({ default: '1.0.0', description: 'What runs here, as /meta tells it' }),
  DOCS: Type.Enum(['on', 'off'], { type: 'string', default: 'on', description: 'Whether /docs is served' }),
  FLOOD_LIMIT: Type.String({ default: 'off', pattern: frequency, description: 'How much one client may ask of all routes together, such as 600/1m' }),
  ...limitVariables
})

/** So many attempts in so many milliseconds. */
export interface Limit { max: number, window: number }

const units = { s: 1_000, m: 60_000, h: 3_600_000 }

function readLimit (text: string): Limit | undefined {
  const [, max, count, unit] = /^(\d+)\/(\d+)([smh])$/.exec(text) ?? []
  return max && count && unit ? { max: Number(max), window: Number(count) * units[unit as keyof typeof units] } : undefined
}

export type Config = ReturnType<typeof readGatewayConfig>

/** Throws a ConfigError that names every variable that is missing or wrong. */
export function readGatewayConfig (env: NodeJS.ProcessEnv = process.env) {
  const { IDENTITY_URL, PROFILE_URL, SOCIAL_URL, FITMATCH_URL, DASHBOARD_URL, NOTIFICATION_URL, ...config } = readConfig(environment, env)
  const variables = config as Record<string, unknown>
  const strangers = Object.keys(env).filter((name) => name.startsWith('LIMIT_') && !(name in limitVariables))
  // A limit that is misspelt would silently leave the number as it was.
  if (strangers.length > 0) throw new ConfigError(strangers.map((name) => `${name} is no limit; there are ${Object.keys(limitVariables).join(', ')}`).join('\n'))
  const origins = config.CORS_ORIGINS.filter((origin) => origin !== '*' && !(URL.canParse(origin) && new URL(origin).origin === origin))
  if (origins.length > 0) throw new ConfigError('CORS_ORIGINS must be origins such as https://app.example.org, separated by commas')
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
    /** By method and path, such as `POST /auth/login`. */
    limits: new Map(limited.flatMap((route) => {
      const limit = readLimit(String(variables[variableOf(route)]))
      return limit ? route.methods.map((method) => [`${method} ${route.path}`, limit] as const) : []
    })),
    flood: readLimit(config.FLOOD_LIMIT)
  }
}

