import { globSync } from 'node:fs'
import path from 'node:path'
import { createKeySet, type Server, type ServerOptions } from '@tandem/http-kit'
import { createLogger } from '@tandem/process-kit'
import { describeGateway } from '../../gateway/pages/gateway-document.ts'
import { joinDocuments, type OpenapiDocument } from '../../gateway/pages/join-documents.ts'
import { BASE_PATH, serviceOf } from '../../gateway/routes.ts'
import { compareFields } from './compare.ts'
import { isObject, listFields, resolve } from './fields.ts'

interface Part {
  name: string
  document: OpenapiDocument
}
interface Service {
  createApp: (deps: object, options: Omit<ServerOptions, 'name'>) => Promise<Server>
}
interface Parameter {
  name: string
  in: string
  required?: boolean
  schema?: unknown
}
type Content = Record<string, { schema?: unknown }>
interface Operation {
  operationId?: string
  parameters?: Parameter[]
  requestBody?: { required?: boolean, content?: Content }
  responses?: Record<string, unknown>
  security?: unknown[]
}

export const documentFile = 'gateway/openapi.json'

/**
 * The OpenAPI document of each service below `root`, created without servers: no route needs its dependencies before a
 * request.
 */
export async function readDocuments (root: string): Promise<Part[]> {
  const log = createLogger('contracts', 'silent')
  const keys = createKeySet(async () => ({ keys: [], issuedAt: Date.now() }), log)
  const parts: Part[] = []
  for (const file of globSync('services/*/app.ts', { cwd: root }).sort()) {
    const { createApp } = await import(path.join(root, file)) as Service
    const app = await createApp({}, { log, keys })
    await app.ready()
    // What /openapi.json responds, but its error, such as a missing text, is thrown and not hidden by a 500.
    const document = JSON.parse(JSON.stringify(app.swagger())) as OpenapiDocument
    parts.push({ name: path.basename(path.dirname(file)), document })
    await app.close()
  }
  keys.close()
  return parts
}

/** The document as the gateway serves it when all services are there. */
export const joinPublic = (parts: Part[]): OpenapiDocument =>
  joinDocuments([{ name: 'gateway', document: describeGateway() }, ...parts], {
    version: '1.0.0',
    servers: [{ url: BASE_PATH, description: 'Here' }],
    missing: []
  })

/** A sentence for each path of a service that no client reaches through the gateway. */
export function listUnreachable (parts: Part[]): string[] {
  return parts.flatMap(({ name, document }) =>
    Object.keys(document.paths ?? {}).flatMap((path) => {
      const target = serviceOf(path)
      if (target === name) return []
      const problem = target ? `sends to ${target}` : 'does not know'
      return [`${name} serves ${path}, which the gateway ${problem}: add its prefix to ${name} in gateway/routes.ts.`]
    })
  )
}

/** A sentence for each component that two services define differently under one name. */
export function listNameConflicts (parts: Part[]): string[] {
  const known = new Map<string, { owner: string, text: string }>()
  return parts.flatMap(({ name, document }) =>
    Object.entries(document.components ?? {}).flatMap(([kind, members]) =>
      Object.entries(members).flatMap(([key, value]) => {
        // Each service lists its own codes; the gateway joins them.
        if (key === 'ErrorCode') return []
        const text = JSON.stringify(value)
        const first = known.get(`${kind} ${key}`)
        if (!first) known.set(`${kind} ${key}`, { owner: name, text })
        return first && first.text !== text
          ? [`${kind} ${key} is one in ${first.owner} and another in ${name}: rename one.`]
          : []
      })
    )
  )
}

/** Why clients of the API that `before` describes could not use the one that `after` describes: a line each. */
export function compareDocuments (before: OpenapiDocument, after: OpenapiDocument): string[] {
  const now = listOperations(after)
  return [...listOperations(before)].flatMap(([key, { name, operation }]) => {
    const next = now.get(key)
    if (!next) return [`${name} is gone`]
    const request = compareFields(
      listFields(requestSchema(name, operation), before),
      listFields(requestSchema(next.name, next.operation), after),
      { rule: 'request' }
    )
    return [
      ...operation.operationId && operation.operationId !== next.operation.operationId
        ? [`clients call it "${operation.operationId}", and it is now "${next.operation.operationId}"`]
        : [],
      ...!operation.security?.length && next.operation.security?.length ? ['it now needs a bearer token'] : [],
      ...request.map((change) => `request: ${change}`),
      ...compareResponses(operation.responses ?? {}, next.operation.responses ?? {}, { before, after })
    ].map((change) => `${name}: ${change}`)
  })
}

/** Operations by method and path; what a parameter of the path is called is no concern of a client. */
function listOperations ({ paths = {} }: OpenapiDocument) {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) =>
        [`${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`, {
          name: `${method.toUpperCase()} ${path}`,
          operation: operation as Operation
        }] as const
      )
    )
  )
}

/**
 * Everything that a client sends, as one object: `query.limit`, `header.idempotency-key`, `path.1`, `body.content`,
 * `form.photo`.
 */
function requestSchema (name: string, { parameters = [], requestBody }: Operation) {
  const positions = [...name.matchAll(/\{([^}]+)\}/g)].map(([, each]) => each)
  const group = (place: string, nameOf = (parameter: Parameter) => parameter.name) => {
    const all = parameters.filter((parameter) => parameter.in === place)
    return {
      type: 'object',
      properties: Object.fromEntries(all.map((each) => [nameOf(each), each.schema ?? {}])),
      required: all.filter((each) => each.required).map(nameOf)
    }
  }
  const bodies = Object.fromEntries(
    Object.entries(requestBody?.content ?? {}).map((
      [type, { schema = {} }]
    ) => [type === 'application/json' ? 'body' : type === 'multipart/form-data' ? 'form' : type, schema])
  )
  return {
    type: 'object',
    properties: {
      path: group('path', (each) => String(positions.indexOf(each.name) + 1)),
      query: group('query'),
      header: group('header', (each) => each.name.toLowerCase()),
      ...bodies
    },
    required: ['path', 'query', 'header', ...requestBody?.required === false ? [] : Object.keys(bodies)]
  }
}

function compareResponses (
  before: object,
  after: Record<string, unknown>,
  documents: { before: OpenapiDocument, after: OpenapiDocument }
): string[] {
  return Object.entries(before).flatMap(([status, response]) => {
    if (!(status in after)) return [`it no longer returns ${status}`]
    const now = contentOf(after[status], documents.after)
    const content = Object.entries(contentOf(response, documents.before)).flatMap(([type, { schema = {} }]) => {
      const next = now[type]
      if (!next) return [`it no longer returns ${type}`]
      return compareFields(listFields(schema, documents.before), listFields(next.schema ?? {}, documents.after), {
        rule: status.startsWith('2') ? 'response' : 'failure'
      })
    })
    return [...content, ...compareCodes(response, after[status])].map((change) => `${status}: ${change}`)
  })
}

/** The codes of errors that others take the place of. */
function compareCodes (before: unknown, after: unknown): string[] {
  const [were, are] = [before, after].map((response) => isObject(response) ? response['x-error-codes'] : undefined)
  if (!Array.isArray(were) || !Array.isArray(are) || are.every((code) => were.includes(code))) return []
  return were.filter((code) => !are.includes(code)).map((code) => `it no longer has the code ${code}`)
}

function contentOf (response: unknown, document: OpenapiDocument): Content {
  const resolved = resolve(response, document)
  return isObject(resolved) ? resolved['content'] as Content | undefined ?? {} : {}
}
