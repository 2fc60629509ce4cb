import { Ajv } from 'ajv'
import type { ErrorObject, Options } from 'ajv'
import formats from 'ajv-formats'
import keywords from 'ajv-keywords'
import type { FastifyInstance, FastifyRequest, FastifySchema, FastifySchemaCompiler } from 'fastify'
import { NotFound, ValidationError } from './errors.ts'
import type { Schema } from './examples.ts'
import { NIL_UUID } from './schemas.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The code of this route's validation failures, in place of VALIDATION_ERROR. */
    validationCode?: string
    /** The route looks for unusable text and numbers in its body by itself, with `findUnusable`. */
    validatesOwnBody?: boolean
  }
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

function isClientUrl (text: string) {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, hostname } = new URL(text)
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' && hostname !== ''
}

function createAjv (options: Options) {
  const ajv = new Ajv({
    removeAdditional: true,
    useDefaults: true,
    allErrors: false,
    addUsedSchema: false,
    allowUnionTypes: true,
    strictTypes: false,
    strictTuples: false,
    ...options
  })
  formats.default(ajv)
  keywords.default(ajv, ['transform'])
  ajv.addFormat('client-url', isClientUrl)
  ajv.addFormat('uuid', uuid)
  ajv.addVocabulary(['example', 'x-extension', 'documentedAs'])
  ajv.addKeyword({
    keyword: 'opaqueId',
    type: 'string',
    schemaType: 'boolean',
    modifying: true,
    errors: false,
    compile: () => (text: string, at) => {
      if (at) at.parentData[at.parentDataProperty] = uuid.test(text) ? text.toLowerCase() : NIL_UUID
      return true
    }
  })
  ajv.addKeyword({
    keyword: 'dropNulls',
    type: 'object',
    schemaType: 'boolean',
    before: 'properties',
    modifying: true,
    errors: false,
    compile (_on, schema) {
      const { properties = {}, required = [] } = schema as Schema
      const nullless = Object.entries(properties).filter(([, property]) => !takesNull(property))
      const optional = nullless.filter(([name]) => !required.includes(name))
      // By now the defaults of what was left out are filled in.
      const withDefault = nullless.filter(([, property]) => property.default !== undefined)
      return (value: Record<string, unknown>) => {
        for (const [name, property] of withDefault) if (value[name] === null) value[name] = structuredClone(property.default)
        for (const [name] of optional) if (value[name] === null) delete value[name]
        return true
      }
    }
  })
  ajv.addKeyword({
    keyword: 'dropEmpty',
    type: 'object',
    schemaType: 'array',
    before: 'properties',
    modifying: true,
    errors: false,
    compile: (names: string[]) => (value: Record<string, unknown>) => {
      for (const name of names) if (value[name] === '') delete value[name]
      return true
    }
  })
  return ajv
}

const takesNull = ({ type, enum: values, anyOf }: Schema): boolean =>
  (type === undefined || [type].flat().includes('null')) && (values?.includes(null) ?? true) && (anyOf?.some(takesNull) ?? true)

// A body says its types itself. An address, a query and a header are all text, so theirs are read from it.
const ofBodies = createAjv({ coerceTypes: false })
const ofText = createAjv({ coerceTypes: true })

type Check = ReturnType<FastifySchemaCompiler<FastifySchema>>

// As JSON writes numbers: `0x10` is none, nor is `1e309`, which would be read as Infinity and pass every maximum.
const isNumber = (text: string) => /^-?\d{1,30}(\.\d{1,30})?(e[+-]?\d{1,3})?$/i.test(text) && Math.abs(Number(text)) <= Number.MAX_SAFE_INTEGER

const isNumeric = ({ type, anyOf }: Schema): boolean =>
  [type].flat().some((each) => each === 'integer' || each === 'number') || (anyOf?.some(isNumeric) ?? false)

/** The check of an address, a query or headers, whose numbers are text. */
function compileText (schema: Schema): Check {
  const validate = ofText.compile(schema)
  const numeric = Object.entries(schema.properties ?? {}).filter(([, property]) => isNumeric(property))
  const check: Check = (value: Record<string, unknown>) => {
    for (const [name, { type }] of numeric) {
      const text = value[name]
      if (typeof text !== 'string' || text === '' || isNumber(text)) continue
      check.errors = [{ instancePath: `/${name}`, schemaPath: '', keyword: 'type', params: { type: type ?? 'number' } }]
      return false
    }
    const valid = validate(value)
    check.errors = validate.errors
    return valid
  }
  return check
}

const formatNames: Record<string, string> = {
  uuid: 'must be an id',
  date: 'must be a date such as 2026-01-31',
  'date-time': 'must be a date and time such as 2026-01-31T08:00:00Z',
  'client-url': 'must be an http or https address',
  uri: 'must be a web address',
  email: 'must be an email address'
}

export const article = (type: string) => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)

/** What is wrong, as a sentence that names the field and never repeats its value. */
export function describe ({ instancePath, keyword, params, message }: Pick<ErrorObject, 'instancePath' | 'keyword' | 'params' | 'message'>, whole = 'The body') {
  const path = instancePath.slice(1).replaceAll('/', '.')
  const field = path === '' ? whole : path
  switch (keyword) {
    case 'required': return `${path === '' ? '' : `${path}.`}${params.missingProperty} is required`
    case 'type': return `${field} must be ${[params.type].flat().map(article).join(' or ')}`
    case 'enum': return `${field} must be one of ${params.allowedValues.join(', ')}`
    case 'const': return `${field} must be ${JSON.stringify(params.allowedValue)}`
    case 'format': return `${field} ${formatNames[params.format] ?? 'does not have the right form'}`
    case 'pattern': return `${field} does not have the right form`
    case 'minLength': return params.limit === 1 ? `${field} must not be empty` : `${field} must have at least ${params.limit} characters`
    case 'maxLength': return `${field} must have at most ${params.limit} characters`
    case 'minItems': return `${field} must have at least ${params.limit} items`
    case 'maxItems': return `${field} must have at most ${params.limit} items`
    case 'minimum': return `${field} must be at least ${params.limit}`
    case 'maximum': return `${field} must be at most ${params.limit}`
    case 'uniqueItems': return `${field} must not hold the same thing twice`
    case 'anyOf': case 'oneOf': return `${field} does not have the right form`
    default: return `${field} ${message ?? 'is not valid'}`
  }
}

const wholes: Record<string, string> = { body: 'The body', querystring: 'The query', params: 'The address', headers: 'The headers' }

const deepest = 32

// Not a stream or a buffer, which a route may have asked for in place of a parsed body.
function isPlain (value: object) {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Array.isArray(value)
}

/** What is wrong with a text or a number that no schema finds: Postgres cannot store it, or it is none. */
function describeUnstorable (value: unknown) {
  if (typeof value === 'string') {
    if (value.includes('\0')) return 'holds a NUL character'
    return value.isWellFormed() ? undefined : 'holds a broken character'
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return 'holds a number that is out of range'
}

/** What no schema says but no request may hold, as the end of a sentence: what `find` finds in it, and endless depth. */
export function findUnstorable (value: unknown, find: (value: unknown) => string | undefined = describeUnstorable, depth = 0): string | undefined {
  if (typeof value !== 'object' || value === null || !isPlain(value)) return find(value)
  if (depth === deepest) return 'is nested too deeply'
  for (const [key, inner] of Object.entries(value)) {
    const found = find(key) ?? findUnstorable(inner, find, depth + 1)
    if (found) return found
  }
}

const nothing = () => undefined

/** Gives `app` the reading, checking and cleaning of requests. */
export function checkRequests (app: FastifyInstance) {
  app.setValidatorCompiler(({ schema, httpPart }) => httpPart === 'body' ? ofBodies.compile(schema as object) : compileText(schema as Schema))
  app.setSchemaErrorFormatter((errors, part) => new Error(describe(errors[0] as ErrorObject, wholes[part])))

  app.removeContentTypeParser('text/plain')
  const parse = app.getDefaultJsonParser('remove', 'remove')
  // Mobile clients announce JSON, or what their HTTP library takes for granted, and then send nothing, or null.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers['content-length'] === '0') delete request.headers['content-type']
    done()
  })
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) done(null, {})
    else void parse(request, body as string, done)
  })

  app.addHook('preValidation', (request: FastifyRequest, _reply, done) => {
    // The router makes objects of a kind of its own for these two.
    if (findUnstorable({ ...request.params as object })) return done(new NotFound())
    const found = findUnstorable(request.body, request.routeOptions.config.validatesOwnBody ? nothing : describeUnstorable) ?? findUnstorable({ ...request.query as object })
    if (found) return done(new ValidationError(`The request ${found}`))
    if (request.routeOptions.schema?.body) request.body ??= {}
    done()
  })
}
