import { domainToASCII } from 'node:url'
import { Ajv } from 'ajv'
import type { Options } from 'ajv'
import formats from 'ajv-formats'
import keywords from 'ajv-keywords'
import type { FastifyInstance, FastifyRequest, FastifySchema, FastifySchemaCompiler } from 'fastify'
import { NotFound, PayloadTooLarge, ValidationError } from './errors.ts'
import { textsOf, type LocalTexts } from '@tandem/brand-kit'
import type { Schema } from './examples.ts'
import { isUuid, NIL_UUID, parseInstant } from './schemas.ts'
import { explain, type SchemaError } from './validation-messages.ts'
import { toVisibleText } from './visible-text.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The code of this route's validation failures, in place of VALIDATION_ERROR. */
    validationCode?: string
    /** Whether the route itself checks its body for unstorable text and numbers, with `findUnstorable`. */
    validatesOwnBody?: boolean
    /** How many values the JSON body may have; default 10,000. */
    maxBodyValues?: number
  }
}

function isClientUrl (text: string) {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, hostname } = new URL(text)
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' && hostname !== ''
}

/** The digits of a code as the keyboard of the person has them: of any script, with blanks or hyphens between them. */
const toAsciiDigits = (text: string) =>
  text.normalize('NFKC').replace(/[\s\p{Pd}]/gu, '').replace(/\p{Nd}/gu, (digit) => String(valueOfDigit(digit)))

/** Unicode has the digits of each script in a row, from zero to nine. */
function valueOfDigit (digit: string) {
  const point = digit.codePointAt(0) as number
  let zero = point
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--
  return (point - zero) % 10
}

/** A time in UTC; a text that is no time stays, for `format` to refuse. */
const toInstant = (text: string) => parseInstant(text)?.toString() ?? text

/** An email address with its domain in ASCII. A domain that has no such form stays, for `format` to refuse. */
export function toAsciiDomain (text: string) {
  const start = text.lastIndexOf('@') + 1
  const domain = domainToASCII(text.slice(start).trim())
  return domain === '' ? text : text.slice(0, start) + domain
}

interface TextKeyword {
  keyword: string
  /** The keyword that checks what `rewrite` returns. */
  before: string
  rewrite: (text: string) => string
}

/** Adds a keyword that rewrites texts, and refuses none. */
function addTextKeyword (ajv: Ajv, { keyword, before, rewrite }: TextKeyword) {
  ajv.addKeyword({
    keyword,
    type: 'string',
    schemaType: 'boolean',
    before,
    modifying: true,
    errors: false,
    compile: () => (text: string, at) => {
      if (at) at.parentData[at.parentDataProperty] = rewrite(text)
      return true
    }
  })
}

function createAjv (options: Options) {
  const ajv = new Ajv({
    removeAdditional: true,
    useDefaults: true,
    allErrors: true,
    addUsedSchema: false,
    allowUnionTypes: true,
    strictTypes: false,
    strictTuples: false,
    // TypeBox makes the schemas. To check them as well, a start would compile the schema of JSON Schema: 40 ms.
    meta: false,
    validateSchema: false,
    ...options
  })
  formats.default(ajv)
  keywords.default(ajv, ['transform'])
  ajv.addFormat('client-url', isClientUrl)
  ajv.addFormat('uuid', isUuid)
  ajv.addVocabulary(['example', 'x-extension', 'documentedAs', 'schemaName', 'expectedFormat'])
  ajv.addKeyword({
    keyword: 'opaqueId',
    type: 'string',
    schemaType: 'boolean',
    modifying: true,
    errors: false,
    compile: () => (text: string, at) => {
      if (text.trim() === '') return false
      if (at) at.parentData[at.parentDataProperty] = isUuid(text) ? text.toLowerCase() : NIL_UUID
      return true
    }
  })
  addTextKeyword(ajv, { keyword: 'instant', before: 'format', rewrite: toInstant })
  addTextKeyword(ajv, { keyword: 'visibleText', before: 'maxLength', rewrite: toVisibleText })
  addTextKeyword(ajv, { keyword: 'asciiDigits', before: 'maxLength', rewrite: toAsciiDigits })
  addTextKeyword(ajv, { keyword: 'asciiDomain', before: 'maxLength', rewrite: toAsciiDomain })
  ajv.addKeyword({
    keyword: 'cutTo',
    type: 'string',
    schemaType: 'number',
    modifying: true,
    errors: false,
    compile: (maxCharacters: number) => (text: string, at) => {
      // Line breaks and other controls have no place in the name of a device, and refuse nothing either.
      const line = text.replace(/\p{Cc}+/gu, ' ').trim()
      if (at) at.parentData[at.parentDataProperty] = Array.from(line).slice(0, maxCharacters).join('').trimEnd()
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
      const notNullable = Object.entries(properties).filter(([, property]) => !isNullable(property))
      const optional = notNullable.filter(([name]) => !required.includes(name))
      // Defaults of missing fields are already filled in at this point.
      const withDefault = notNullable.filter(([, property]) => property.default !== undefined)
      return (value: Record<string, unknown>) => {
        for (const [name, property] of withDefault) {
          if (value[name] === null) value[name] = structuredClone(property.default)
        }
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

const isNullable = ({ type, enum: values, anyOf }: Schema): boolean =>
  (type === undefined || [type].flat().includes('null')) && (values?.includes(null) ?? true) &&
  (anyOf?.some(isNullable) ?? true)

// JSON bodies have types. Paths, queries and headers are text, so their types are coerced.
const bodyAjv = createAjv({ coerceTypes: false })
const textAjv = createAjv({ coerceTypes: true })

type Validator = ReturnType<FastifySchemaCompiler<FastifySchema>>

// Numbers in JSON notation. `0x10` is not one, and neither is `1e309`, which would be read as Infinity and pass every
// maximum.
const isNumber = (text: string) =>
  /^-?\d{1,30}(\.\d{1,30})?(e[+-]?\d{1,3})?$/i.test(text) && Math.abs(Number(text)) <= Number.MAX_SAFE_INTEGER

const isNumeric = ({ type, anyOf }: Schema): boolean =>
  [type].flat().some((each) => each === 'integer' || each === 'number') || (anyOf?.some(isNumeric) ?? false)

// Enough for MAX_DETAILS fields. A list of thousands of wrong items has as many errors.
const MAX_ERRORS = 200

/**
 * A validator that is compiled when it is first called, and adds the `expectedFormat` of the schema that failed to each
 * error.
 */
function explainFormats (schema: Schema, compile: () => Validator): Validator {
  let validate: Validator | undefined
  const check: Validator = (value: unknown) => {
    validate ??= compile()
    const result = validate(value)
    check.errors = validate.errors?.slice(0, MAX_ERRORS).map((error) => {
      const expectedFormat = /^(pattern|format|(min|max)Length)$/.test(error.keyword)
        ? findExpectedFormat(schema, error.schemaPath)
        : undefined
      return expectedFormat ? { ...error, params: { ...error.params, expectedFormat } } : error
    }) ?? null
    return result
  }
  return check
}

function findExpectedFormat (schema: Schema, schemaPath: string): unknown {
  const steps = schemaPath.split('/').slice(1, -1).map((step) => decodeURIComponent(step).replaceAll('~1', '/'))
  const owner = steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], schema)
  return (owner as { expectedFormat?: unknown } | undefined)?.expectedFormat
}

/** Compiles the validator of a path, a query or headers, whose numbers are text. */
function compileTextValidator (schema: Schema): Validator {
  const validate = textAjv.compile(schema)
  const numeric = Object.entries(schema.properties ?? {}).filter(([, property]) => isNumeric(property))
  const check: Validator = (value: Record<string, unknown>) => {
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

const MAX_DETAILS = 20

export interface FieldError {
  /** The path of the field, such as `exercises.0.name`; the name of the part of the request if that is wrong itself. */
  field: string
  /** A sentence that names the field and what was expected, and never repeats the value. */
  message: string
}

/**
 * Describes what is wrong with a part of a request: one entry for each field. It takes the errors of Ajv and of TypeBox,
 * which differ in how they name a missing field.
 */
export function describeErrors (errors: SchemaError[], part: string, texts: LocalTexts): FieldError[] {
  // Each branch of a union reports why it does not match; that a value is not null tells people nothing.
  const direct = errors.filter(({ keyword, params }) => !/^(any|one)Of$/.test(keyword) && params['type'] !== 'null')
  const byField = new Map<string, FieldError>()
  for (const error of direct.length > 0 ? direct : errors) {
    const path = [...error.instancePath.split('/').slice(1), ...listMissing(error)].join('.')
    const field = path || part
    if (byField.has(field) || byField.size === MAX_DETAILS) continue
    const name = path || (texts.find(`validation.parts.${part}`) ?? part)
    byField.set(field, { field, message: explain(error, name, texts) })
  }
  return [...byField.values()]
}

const listMissing = ({ keyword, params }: SchemaError): string[] =>
  keyword === 'required' ? [params['missingProperty'] ?? params['requiredProperties'][0]] : []

const MAX_DEPTH = 32

// False for streams and buffers, which a route may use in place of a parsed body.
function isPlainObject (value: object) {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || Array.isArray(value)
}

/** What no request may contain; each has a text for requests and for items of a batch. */
type Unstorable = 'nulCharacter' | 'invalidCharacter' | 'numberOutOfRange' | 'nestedTooDeeply'

/** Why a string or number cannot be stored in Postgres, which no schema detects. */
function describeUnstorable (value: unknown): Unstorable | undefined {
  if (typeof value === 'string') {
    if (value.includes('\0')) return 'nulCharacter'
    return value.isWellFormed() ? undefined : 'invalidCharacter'
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return 'numberOutOfRange'
}

/**
 * Searches a value for anything that no schema detects but no request may contain: what `find` reports, and excessive
 * nesting. Returns the detail of a ValidationError.
 */
export function findUnstorable (
  value: unknown,
  find: (value: unknown) => Unstorable | undefined = describeUnstorable,
  depth = 0
): Unstorable | undefined {
  if (typeof value !== 'object' || value === null || !isPlainObject(value)) return find(value)
  if (depth === MAX_DEPTH) return 'nestedTooDeeply'
  for (const [key, inner] of Object.entries(value)) {
    const found = find(key) ?? findUnstorable(inner, find, depth + 1)
    if (found) return found
  }
}

const findNothing = () => undefined

// Values cost far more than their bytes: 7.2 MiB of them took a service for 1 to 11 s, and up to 3 GB.
const MAX_BODY_VALUES = 10_000

/** Whether a JSON text may have more than `max` values. What separates or opens them is counted, in texts too. */
function hasTooManyValues (json: string, max: number) {
  let count = 0
  for (const mark of [',', '[', '{']) {
    for (let at = json.indexOf(mark); at !== -1; at = json.indexOf(mark, at + 1)) if (++count > max) return true
  }
  return false
}

/** Makes `app` parse, validate and clean requests. */
export function validateRequests (app: FastifyInstance) {
  app.setValidatorCompiler(({ schema, httpPart }) =>
    explainFormats(
      schema as Schema,
      () => httpPart === 'body' ? bodyAjv.compile(schema as object) : compileTextValidator(schema as Schema)
    )
  )
  // Its message is for logs. The client's is written in the client's language: see `envelope.ts`.
  app.setSchemaErrorFormatter((errors, part) =>
    new Error(describeErrors(errors as SchemaError[], part, textsOf('en')).map(({ message }) => message).join('; '))
  )

  app.removeContentTypeParser('text/plain')
  const parse = app.getDefaultJsonParser('remove', 'remove')
  // Mobile clients declare JSON, or the default of their HTTP library, and then send nothing or null.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers['content-length'] === '0') delete request.headers['content-type']
    done()
  })
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const { maxBodyValues = MAX_BODY_VALUES } = request.routeOptions.config
    if (body.length === 0) done(null, {})
    else if (hasTooManyValues(body as string, maxBodyValues)) done(new PayloadTooLarge())
    else void parse(request, body as string, done)
  })

  app.addHook('preValidation', (request: FastifyRequest, _reply, done) => {
    // The router creates params and query with its own prototypes.
    if (findUnstorable({ ...request.params as object })) return done(new NotFound())
    const found =
      findUnstorable(request.body, request.routeOptions.config.validatesOwnBody ? findNothing : describeUnstorable) ??
        findUnstorable({ ...request.query as object })
    if (found) {
      return done(new ValidationError(found, [], { subject: 'request' }))
    }
    if (request.routeOptions.schema?.body) request.body ??= {}
    done()
  })
}
