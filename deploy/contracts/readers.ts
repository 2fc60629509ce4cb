import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Messaging } from '@tandem/bus-kit'
import * as contracts from '@tandem/contracts'
import type { OpenapiDocument } from '../../gateway/pages/join-documents.ts'
import { isObject, isPart, listFields, resolve } from './fields.ts'

// What these functions list is in the contract or in the database, and nothing uses it. They compare names, so a field
// that another one is named like escapes them.

/** The fields of request bodies of a service that no response of it has, but for ids: `identity password`. */
export function listUnansweredFields (part: Part): string[] {
  const answered = new Set(listAnsweredFields(part))
  const sent = new Set(operationsOf(part).flatMap(({ requestBody }) => fieldsOf(requestBody, part.document)))
  return [...sent].filter((field) => !isId(field)).map((field) => `${part.name} ${field}`)
    .filter((field) => !answered.has(field)).sort()
}

/** The fields of the responses of a service. */
export const listAnsweredFields = (part: Part): string[] =>
  operationsOf(part).flatMap(({ responses }) =>
    Object.entries(responses ?? {}).filter(([status]) => status.startsWith('2'))
      .flatMap(([, response]) => fieldsOf(response, part.document))
      .map((field) => `${part.name} ${field}`)
  )

/** An id in a request names what was read before. */
const isId = (field: string) => /(^i|I|_i)ds?$/.test(field)

interface Part {
  name: string
  document: OpenapiDocument
}

const operationsOf = ({ document }: Part) =>
  Object.values(document.paths ?? {}).flatMap((methods) => Object.values(methods)) as Operation[]

interface Operation {
  requestBody?: unknown
  responses?: Record<string, unknown>
}

/** The names of all fields of a request body or a response. */
function fieldsOf (body: unknown, document: OpenapiDocument): string[] {
  const resolved = resolve(body, document)
  const content = isObject(resolved) && isObject(resolved['content']) ? resolved['content'] : {}
  return Object.values(content).filter(isObject)
    .flatMap(({ schema }) => Object.keys(listFields(schema, document)))
    .filter((field) => !isPart(field))
    .map((field) => field.split('.').at(-1) ?? '')
    .filter((field) => field !== '')
}

/** The events that their service does not publish, and those that no service consumes. */
export function listUnusedEvents (root: string, messaging: Messaging[]) {
  const consumed = new Set(messaging.flatMap(({ consumes }) => consumes.map(({ type }) => type)))
  const codeOf = new Map(messaging.map(({ service }) => [service, readSources(root, `services/${service}/**/*.ts`)]))
  const events = Object.entries(contracts).flatMap(([name, each]) =>
    typeof each === 'object' && 'data' in each ? [{ name, type: each.type, service: each.service }] : []
  )
  // A service names an event of its own only to publish it.
  const isPublished = ({ name, service }: typeof events[number]) =>
    new RegExp(`\\b${name}\\b`).test(codeOf.get(service) ?? '')
  return {
    unpublished: events.filter((each) => !isPublished(each)).map(({ type }) => type).sort(),
    unconsumed: events.filter(({ type }) => !consumed.has(type)).map(({ type }) => type).sort()
  }
}

/** The columns of a service that its code never writes, and those that it never reads: `social posts.media_type`. */
export function listUnusedColumns (root: string, service: string) {
  const folder = `services/${service}`
  // An export shows a column to its owner, and is no use of it.
  const code = readSources(root, `${folder}/**/*.ts`, [`${folder}/tables.ts`, `${folder}/personal-data.ts`])
  const migrations = readSources(root, `${folder}/migrations/*.sql`)
  const columns = listColumns(readFileSync(path.join(root, folder, 'tables.ts'), 'utf8'))
  const nameOf = ({ table, column }: Column) => `${service} ${table}.${column}`
  return {
    unwritten: columns.filter(({ column }) => !isWritten(column, code, migrations)).map(nameOf).sort(),
    unread: columns.filter(({ column }) => !isRead(column, code)).map(nameOf).sort()
  }
}

interface Column {
  table: string
  column: string
}

/** The columns of the interface `Tables`. */
function listColumns (tables: string): Column[] {
  return [...tables.matchAll(/^ {2}(\w+): \{([^]*?)\}$/gm)].flatMap(([, table = '', body = '']) =>
    [...body.matchAll(/(?:^|[{,])\s*(\w+): /gm)].map(([, column = '']) => ({ table, column }))
  )
}

const WRITTEN_BY_DEFAULT = 'default|generated|serial'

/** As a key of an object, in an assignment or a list of columns, or by the database. `row.column` reads it. */
const isWritten = (column: string, code: string, migrations: string) =>
  new RegExp(`\\bcolumns\\(\\[[^\\]]*'${column}'`).test(code) ||
  new RegExp(`(?<!\\.)\\b${column}\\b\\s*(:(?!:)|=(?!=)|[,}]|\\))`).test(code) ||
  new RegExp(`^\\s*(add column )?${column}\\s[^\\n]*\\b(${WRITTEN_BY_DEFAULT})\\b`, 'm').test(migrations) ||
  new RegExp(`alter table [^;]*\\b${column}\\s[^;]*\\b(${WRITTEN_BY_DEFAULT})\\b`).test(migrations)

/** Anywhere but as the key of an object. */
const isRead = (column: string, code: string) => new RegExp(`\\b${column}\\b(?!\\s*:(?!:))`).test(code)

const readSources = (root: string, pattern: string, exclude: string[] = []) =>
  globSync(pattern, {
    cwd: root,
    exclude: ['**/node_modules/**', '**/*.test.ts', '**/test/**', '**/bench/**', ...exclude]
  }).map((file) => readFileSync(path.join(root, file), 'utf8')).join('\n')
