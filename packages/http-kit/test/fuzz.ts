import { randomUUID } from 'node:crypto'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { exampleOf, type Schema } from '../examples.ts'
import { resolveReferences } from './references.ts'

interface Parameter {
  name: string
  in: string
  required?: boolean
  schema?: Schema
}

interface Operation {
  parameters?: Parameter[]
  requestBody?: { content?: Record<string, { schema?: Schema, example?: unknown }> }
}

export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>
}

export interface FuzzRequest {
  method: string
  url: string
  headers: Record<string, string>
  payload?: string
}

interface Response {
  status: number
  type: string
  body: string
}

interface Options {
  send: (request: FuzzRequest) => Promise<Response>
  /** Ids that exist, by the path segment before them: `feed` for /feed/{id}. */
  ids?: Record<string, string>
}

// Invalid and very large numbers, dates at the limits of Date and Postgres, invalid and special characters;
// URL-encoded.
const URL_VALUES = [
  'Infinity',
  '-Infinity',
  'NaN',
  '-0',
  '1e309',
  '-1e400',
  '1e308',
  '1e-400',
  '9'.repeat(30),
  '9007199254740993',
  '2147483648',
  '-2147483649',
  '0x10',
  '',
  '0000-00-00',
  '0001-01-01',
  '9999-12-31',
  '10000-01-01',
  '%2B275760-09-13T00:00:00.000Z',
  '-271821-04-20',
  '9999-12-31T23:59:59.999-23:59',
  '%00',
  'a%00b',
  '%ED%A0%80',
  '%F0',
  '%FF',
  '%zz',
  '%',
  '%EF%BF%BF',
  '__proto__',
  'constructor',
  '%27%22%5C',
  'a'.repeat(3_000)
]

// The same values as JSON.
const JSON_VALUES = [
  '1e400',
  '-1e400',
  '-0',
  '1e308',
  '-1e308',
  '1e-400',
  '9'.repeat(30),
  '9007199254740993',
  '-9007199254740993',
  '2147483648',
  '-2147483649',
  '0.1',
  'NaN',
  'null',
  'true',
  '[]',
  '{}',
  '[null]',
  '[1e400]',
  '""',
  '"NaN"',
  '"1e400"',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udc00a"',
  '["\\ud800"]',
  '"__proto__"',
  '{"__proto__":1}',
  '"0000-00-00"',
  '"0001-01-01"',
  '"9999-12-31"',
  '"+275760-09-13T00:00:00.000Z"',
  '"-271821-04-20T00:00:00.000Z"',
  '"9999-12-31T23:59:59.999-23:59"',
  '"2016-12-31T23:59:60Z"',
  `"${'a'.repeat(3_000)}"`
]

const PLACEHOLDER = '"the fuzzed value"'
// Deletes run last, so that the other operations still find their data.
const LATE_METHODS = ['delete']

/**
 * Fuzzes an API: sends every hostile value in every parameter and body field of every operation of `document`. Lists
 * the requests that got a server error, or an error outside the envelope. A 503 is listed unless the operation's own
 * example gets one too.
 */
export async function fuzzApi (api: ApiDocument, options: Options): Promise<{ sent: number, bad: string[] }> {
  const document = resolveReferences(api)
  const operations = Object.entries(document.paths)
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })))
    .sort((one, other) => Number(LATE_METHODS.includes(one.method)) - Number(LATE_METHODS.includes(other.method)))
  const bad = new Set<string>()
  let sent = 0
  for (const { path, method, operation } of operations) {
    const { example, fuzzed } = listRequests(path, method, operation, options.ids)
    const isUnavailable = (await options.send(example)).status === 503
    // One at a time, because the number of parallel requests of an account is limited, and a 503 for that is correct.
    for (const { what, ...request } of fuzzed) {
      const response = await options.send(request)
      sent++
      const problem = findProblem(response)
      if (problem && !(response.status === 503 && isUnavailable)) {
        bad.add(`${method.toUpperCase()} ${path} ${what.slice(0, 100)}: ${problem}`)
      }
    }
  }
  return { sent, bad: [...bad] }
}

function findProblem ({ status, type, body }: Response) {
  if (status >= 500) return `${status} ${body.slice(0, 100)}`
  if (status < 400) return
  if (!type.startsWith('application/json')) return `${status} of type ${type}`
  const { success, error, code } = JSON.parse(body) as Record<string, unknown>
  if (success !== false || typeof error !== 'string' || typeof code !== 'string') {
    return `${status} outside the envelope`
  }
}

function listRequests (
  path: string,
  method: string,
  { parameters = [], requestBody }: Operation,
  ids: Record<string, string> = {}
) {
  const media = requestBody?.content?.['application/json']
  const body = media?.example ?? {}
  const urlWith = (fuzzed?: Parameter, text = '') =>
    path.replace(
      /([\w-]+)\/\{(\w+)\}/g,
      (_all, word: string, name: string) =>
        `${word}/${fuzzed?.in === 'path' && fuzzed.name === name ? text : ids[word] ?? randomUUID()}`
    )
  const exampleRequest = (): FuzzRequest => ({
    method: method.toUpperCase(),
    url: urlWith(),
    headers: media ? { 'content-type': 'application/json' } : {},
    ...(media && { payload: JSON.stringify(body) })
  })

  // Without its required parameters a route would reject the request before it reads the fuzzed one.
  const queryWith = ({ name }: Parameter, text: string) =>
    '?' + [
      `${name}=${text}`,
      ...parameters.filter((each) => each.in === 'query' && each.required && each.name !== name).map((each) =>
        `${each.name}=${exampleText(each)}`
      )
    ].join('&')

  const inUrl = parameters.filter((each) => each.in === 'path' || each.in === 'query').flatMap((parameter) =>
    URL_VALUES.map((text) => ({
      ...exampleRequest(),
      what: `${parameter.name}=${text}`,
      url: urlWith(parameter, text) + (parameter.in === 'query' ? queryWith(parameter, text) : '')
    }))
  )
  const inHeaders = parameters.filter((each) => each.in === 'header').flatMap((parameter) =>
    URL_VALUES.filter((text) => text.length < 3_000).map((text) => ({
      ...exampleRequest(),
      what: `${parameter.name}: ${text}`,
      headers: { ...exampleRequest().headers, [parameter.name]: text }
    }))
  )
  // Alternatives have fields of the same names, which make the same requests.
  const fields = new Map(listFields(media?.schema ?? {}).map((field) => [field.join('.'), field]))
  const inBody = !media ? [] : [...fields.values()].flatMap((field) =>
    JSON_VALUES.map((value) => ({
      ...exampleRequest(),
      what: `${field.join('.')}: ${value}`,
      payload: JSON.stringify(replaceAt(body, field)).replace(PLACEHOLDER, () => value)
    }))
  )
  return { example: exampleRequest(), fuzzed: [...inUrl, ...inHeaders, ...inBody] }
}

function exampleText ({ schema = {} }: Parameter) {
  const example = exampleOf(schema)
  return typeof example === 'string' || typeof example === 'number' ? encodeURIComponent(example) : 'abc'
}

/** The paths of all places in a body where a value can be: the body itself, its fields, and their fields. */
function listFields (schema: Schema, path: string[] = []): string[][] {
  const inner = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(({ properties, items }) => [
    ...Object.entries(properties ?? {}).flatMap(([name, property]) => listFields(property, [...path, name])),
    ...(items ? listFields(items, [...path, '0']) : [])
  ])
  return [path, ...inner]
}

function replaceAt (example: unknown, [first, ...rest]: string[]): unknown {
  if (first === undefined) return JSON.parse(PLACEHOLDER)
  if (/^\d+$/.test(first)) return [replaceAt(Array.isArray(example) ? example[0] : undefined, rest)]
  const object = typeof example === 'object' && example !== null && !Array.isArray(example)
    ? example as Record<string, unknown>
    : {}
  return { ...object, [first]: replaceAt(object[first], rest) }
}

/** Creates the `send` of `fuzzApi`: it injects requests into `app` with `headers`. */
export const createInjector =
  (app: Pick<FastifyInstance, 'inject'>, headers: Record<string, string>) => async (request: FuzzRequest) => {
    const { statusCode, headers: { 'content-type': type }, body } = await app.inject(
      { ...request, headers: { ...headers, ...request.headers } } as InjectOptions
    )
    return { status: statusCode, type: String(type), body }
  }
