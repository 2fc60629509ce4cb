import { isIP } from 'node:net'
import { Ajv, type ErrorObject } from 'ajv'
import formats from 'ajv-formats'
import type { Static, TObject, TSchemaOptions } from 'typebox'
import { Type } from 'typebox'
import { LOG_LEVELS } from './logging.ts'
import { parseRootKey } from './root-keys.ts'
import { readVariable } from './variables.ts'

/**
 * The configuration is invalid, so the process cannot start. The message is for the operator and never contains a
 * value.
 */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

const PORT_RANGE = { minimum: 0, maximum: 65_535 }

/** A variable that holds a list: `a, b`. If it is unset, the list is empty unless there is a `default`. */
export const List = (options: TSchemaOptions = {}) =>
  Type.Unsafe<string[]>({ type: 'string', separator: ',', default: '', ...options })

/**
 * The variables that every process has. Spread them into its own: `Type.Object({ ...ProcessEnvironment, NATS_URL: Url()
 * })`.
 */
export const ProcessEnvironment = {
  HOST: Type.String({ default: '127.0.0.1', description: 'The address to listen on' }),
  PORT: Type.Integer({ ...PORT_RANGE, description: 'The port to listen on; 0 picks a free one' }),
  METRICS_PORT: Type.Optional(
    Type.Integer({ ...PORT_RANGE, description: 'The port that serves /metrics; unset, metrics are not served' })
  ),
  BRAND_DIR: Type.Optional(
    Type.String({
      description: 'A folder with files of brand/ that differ: name, colours, texts, lists; see docs/brand.md'
    })
  ),
  LOG_LEVEL: Type.Enum([...LOG_LEVELS], { type: 'string', default: 'info' }),
  TRUST_PROXY: List({
    format: 'addresses',
    description: 'The proxies whose X-Forwarded-For is trusted: IP addresses and CIDR ranges, separated by commas'
  }),
  MAX_EVENT_LOOP_DELAY_MS: Type.Integer({
    minimum: 0,
    maximum: 60_000,
    default: 1_000,
    description: 'Requests are refused while an iteration of the event loop takes longer; 0 refuses none'
  })
}

/** A variable that holds a URL with a scheme, such as `postgres://…`. */
export const Url = (options: TSchemaOptions = {}) => Type.String({ format: 'any-url', ...options })

/** A URL with one or more hosts, such as `nats://user:password@a:4222,b:4222`. */
export const Urls = (options: TSchemaOptions = {}) => Type.String({ format: 'any-urls', ...options })

const isUrl = (text: string) => URL.canParse(text) && text.includes(':')
const withScheme = (text: string) => text.includes('://') ? text : `host://${text}`

function isAddressOrRange (text: string) {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  return version > 0 && rest.length === 0 &&
    (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128)))
}

function isRootKey (text: string) {
  try {
    return parseRootKey(text) !== undefined
  } catch {
    return false
  }
}

/** A JSON type with its article: `an integer`. */
const withArticle = (type: string) => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)

const split = (text: string) => text.split(',').map((part) => part.trim()).filter(Boolean)

function describeError (error: ErrorObject): [variable: string, line: string] {
  const { keyword, params } = error
  const name: string = keyword === 'required' ? params.missingProperty : error.instancePath.slice(1).split('/', 1)[0]
  switch (keyword) {
    case 'required':
      return [name, `${name} is missing`]
    case 'type':
      return [name, `${name} must be ${withArticle(params.type)}`]
    case 'enum':
      return [name, `${name} must be one of ${params.allowedValues.join(', ')}`]
    case 'minimum':
      return [name, `${name} must be at least ${params.limit}`]
    case 'maximum':
      return [name, `${name} must be at most ${params.limit}`]
    case 'minLength':
      return [name, `${name} must have at least ${params.limit} characters`]
    case 'maxLength':
      return [name, `${name} must have at most ${params.limit} characters`]
    case 'format':
      if (params.format === 'any-url' || params.format === 'any-urls') {
        return [name, `${name} must be a URL such as scheme://host:port`]
      }
      if (params.format === 'ed25519-public-keys') {
        return [name, `${name} must be Ed25519 public keys in base64, separated by commas`]
      }
      if (params.format === 'addresses') {
        return [name, `${name} must be IP addresses or CIDR ranges, separated by commas`]
      }
      return [name, `${name} must be a valid ${params.format}`]
    case 'pattern': {
      const { description } = error.parentSchema ?? {}
      return [name, `${name} must match ${params.pattern}${description ? ` (${description})` : ''}`]
    }
    default:
      return [name, `${name} has an invalid format`]
  }
}

function readVariables (names: string[], env: NodeJS.ProcessEnv): [name: string, value: string | undefined][] {
  return names.map((name) => {
    try {
      return [name, readVariable(name, env)]
    } catch {
      throw new ConfigError(`${name}_FILE names a file that cannot be read`)
    }
  })
}

// Checking our own schemas against the one of JSON Schema would take longer than all else here.
const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  useDefaults: true,
  coerceTypes: true,
  meta: false,
  validateSchema: false
})
formats.default(ajv)
ajv.addKeyword('separator')
ajv.addFormat('any-url', isUrl)
ajv.addFormat(
  'any-urls',
  (text: string) => text.split(',').every((each, index) => isUrl(index === 0 ? each : withScheme(each)))
)
ajv.addFormat('addresses', (text: string) => split(text).every(isAddressOrRange))
ajv.addFormat('ed25519-public-keys', (text: string) => split(text).every(isRootKey))

/**
 * Reads the configuration from environment variables, or from the files that hold them. An empty variable counts as
 * unset.
 * @throws ConfigError that names every missing or invalid variable, one per line
 */
export function readConfig<Schema extends TObject> (
  schema: Schema,
  env: NodeJS.ProcessEnv = process.env
): NoInfer<Static<Schema>> {
  const set = Object.fromEntries(
    readVariables(Object.keys(schema.properties), env).filter(([, value]) => value !== undefined && value.trim() !== '')
  )
  const validate = ajv.compile<Record<string, unknown>>(schema as object)
  const config: Record<string, unknown> = set
  if (!validate(config)) {
    const lines = new Map((validate.errors ?? []).map(describeError).reverse())
    throw new ConfigError([...lines.values()].reverse().join('\n'))
  }
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = config[name]
    if ('separator' in property && typeof value === 'string') config[name] = split(value)
  }
  return config as Static<Schema>
}
