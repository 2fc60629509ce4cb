import { randomUUID } from 'node:crypto'
import { exampleOf, type Schema } from './examples.ts'

interface Parameter { name: string, in: string, required?: boolean, schema?: Schema }

interface Operation {
  parameters?: Parameter[]
  requestBody?: { content?: Record<string, { schema?: Schema & { $ref?: string }, example?: unknown }> }
}

export interface ApiDocument { paths: Record<string, Record<string, Operation>>, components?: { schemas?: Record<string, Schema> } }

export interface HostileRequest { method: string, url: string, headers: Record<string, string>, payload?: string }

interface Answer { status: number, type: string, body: string }

interface Options {
  send: (request: HostileRequest) => Promise<Answer>
  /** Ids that exist, by the word before them in an address: `feed` for /feed/{id}. */
  ids?: Record<string, string>
}

// Numbers that are none or too large, dates at the ends of what Date and Postgres know, broken and special characters; as they stand in an address.
const texts = [
  'Infinity', '-Infinity', 'NaN', '-0', '1e309', '-1e400', '1e308', '1e-400', '9'.repeat(30), '9007199254740993', '2147483648', '-2147483649', '0x10', '',
  '0000-00-00', '0001-01-01', '9999-12-31', '10000-01-01', '%2B275760-09-13T00:00:00.000Z', '-271821-04-20', '9999-12-31T23:59:59.999-23:59',
  '%00', 'a%00b', '%ED%A0%80', '%F0', '%FF', '%zz', '%', '%EF%BF%BF', '__proto__', 'constructor', '%27%22%5C', 'a'.repeat(3_000)
]

// The same as they stand in a body.
const values = [
  '1e400', '-1e400', '-0', '-0.0', '1e308', '-1e308', '1e-400', '9'.repeat(30), '9007199254740993', '-9007199254740993', '2147483648', '-2147483649', '0.1', 'NaN',
  'Infinity', 'null', 'true', '[]', '{}', '[null]', '[1e400]', '""', '"NaN"', '"1e400"', '"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udc00a"', '["\\ud800"]', '"__proto__"',
  '{"__proto__":1}', '"0000-00-00"', '"0001-01-01"', '"9999-12-31"', '"+275760-09-13T00:00:00.000Z"', '"-271821-04-20T00:00:00.000Z"', '"9999-12-31T23:59:59.999-23:59"',
  '"2016-12-31T23:59:60Z"', `"${'a'.repeat(3_000)}"`
]

const placeholder = '"the value under attack"'
const lateMethods = ['delete']

/**
 * Sends every hostile value in every parameter and body field of every operation of `document`, and lists what was not answered in the envelope, or with a
 * server error. A 503 is listed unless the operation answers that to its own example too.
 */
export async function fuzzApi (document: ApiDocument, options: Options): Promise<{ sent: number, bad: string[] }> {
  const operations = Object.entries(document.paths)
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })))
    .sort((one, other) => Number(lateMethods.includes(one.method)) - Number(lateMethods.includes(other.method)))
  const bad = new Set<string>()
  let sent = 0
  for (const { path, method, operation } of operations) {
    const { plain, hostile } = listRequests(document, path, method, operation, options.ids)
    const isUnavailable = (await options.send(plain)).status === 503
    // One after the other: what one account may do at once is bounded, and refused with an honest 503.
    for (const { what, ...request } of hostile) {
      const answer = await options.send(request)
      sent++
      const fault = faultOf(answer)
      if (fault && !(answer.status === 503 && isUnavailable)) bad.add(`${method.toUpperCase()} ${path} ${what.slice(0, 100)}: ${fault}`)
    }
  }
  return { sent, bad: [...bad] }
}

function faultOf ({ status, type, body }: Answer) {
  if (status >= 500) return `${status} ${body.slice(0, 100)}`
  if (status < 400) return
  if (!type.startsWith('application/json')) return `${status} of type ${type}`
  const { success, error, code } = JSON.parse(body) as Record<string, unknown>
  if (success !== false || typeof error !== 'string' || typeof code !== 'string') return `${status} outside the envelope`
}

function listRequests (document: ApiDocument, path: string, method: string, { parameters = [], requestBody }: Operation, ids: Record<string, string> = {}) {
  const media = requestBody?.content?.['application/json']
  const schema = resolve(document, media?.schema)
  const example = media?.example ?? {}
  const addressWith = (attacked?: Parameter, text = '') => path.replace(/([\w-]+)\/\{(\w+)\}/g, (_all, word: string, name: string) =>
    `${word}/${attacked?.in === 'path' && attacked.name === name ? text : ids[word] ?? randomUUID()}`)
  const plain = (): HostileRequest => ({
    method: method.toUpperCase(), url: addressWith(), headers: media ? { 'content-type': 'application/json' } : {}, ...(media && { payload: JSON.stringify(example) })
  })

  // Without what it requires, a route would be asked nothing.
  const queryWith = ({ name }: Parameter, text: string) => '?' + [
    `${name}=${text}`,
    ...parameters.filter((each) => each.in === 'query' && each.required && each.name !== name).map((each) => `${each.name}=${exampleText(each)}`)
  ].join('&')

  const inAddress = parameters.filter((each) => each.in === 'path' || each.in === 'query').flatMap((parameter) => texts.map((text) => ({
    ...plain(), what: `${parameter.name}=${text}`, url: addressWith(parameter, text) + (parameter.in === 'query' ? queryWith(parameter, text) : '')
  })))
  const inHeaders = parameters.filter((each) => each.in === 'header').flatMap((parameter) => texts.filter((text) => text.length < 3_000).map((text) => ({
    ...plain(), what: `${parameter.name}: ${text}`, headers: { ...plain().headers, [parameter.name]: text }
  })))
  const inBody = !media ? [] : listFields(schema).flatMap((field) => values.map((value) => ({
    ...plain(), what: `${field.join('.')}: ${value}`, payload: JSON.stringify(replaceAt(example, field)).replace(placeholder, () => value)
  })))
  return { plain: plain(), hostile: [...inAddress, ...inHeaders, ...inBody] }
}

function exampleText ({ schema = {} }: Parameter) {
  const example = exampleOf(schema)
  return typeof example === 'string' || typeof example === 'number' ? encodeURIComponent(example) : 'abc'
}

function resolve (document: ApiDocument, schema: (Schema & { $ref?: string }) | undefined): Schema {
  const name = schema?.$ref?.split('/').at(-1)
  return (name === undefined ? schema : document.components?.schemas?.[name]) ?? {}
}

/** Where in a body a value can stand: the whole, each field, and what is in them. */
function listFields (schema: Schema, path: string[] = []): string[][] {
  const inner = [schema, ...(schema.anyOf ?? [])].flatMap(({ properties, items }) => [
    ...Object.entries(properties ?? {}).flatMap(([name, property]) => listFields(property, [...path, name])),
    ...(items ? listFields(items, [...path, '0']) : [])
  ])
  return [path, ...inner]
}

function replaceAt (example: unknown, [first, ...rest]: string[]): unknown {
  if (first === undefined) return JSON.parse(placeholder)
  if (/^\d+$/.test(first)) return [replaceAt(Array.isArray(example) ? example[0] : undefined, rest)]
  const object = typeof example === 'object' && example !== null && !Array.isArray(example) ? example as Record<string, unknown> : {}
  return { ...object, [first]: replaceAt(object[first], rest) }
}
