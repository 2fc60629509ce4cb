import { readBrand } from '@tandem/brand-kit'
import { serviceOf } from '../routes.ts'
import { apiGuideOf } from './api-guide.ts'
import { tagOf, tags } from './tags.ts'

type Json = Record<string, unknown>

/** The parts of an OpenAPI 3.1 document that the gateway reads. */
export interface OpenapiDocument {
  paths?: Record<string, Json>
  components?: Record<string, Record<string, unknown>>
  tags?: Array<{ name: string }>
}

interface ServiceDocument {
  name: string
  document: OpenapiDocument
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** `value` with each `$ref` replaced as `renamed` says. */
function rewrite (value: unknown, renamed: Map<string, string>): unknown {
  if (Array.isArray(value)) return value.map((each) => rewrite(each, renamed))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map((
      [key, each]
    ) => [key, key === '$ref' && typeof each === 'string' ? renamed.get(each) ?? each : rewrite(each, renamed)])
  )
}

/** The codes of all services as one enumeration: each service lists its own. */
function joinErrorCodes (parts: ServiceDocument[]) {
  const all = parts.flatMap(({ document }) => document.components?.['schemas']?.['ErrorCode'] ?? []).filter(isObject)
  return { ...all[0], enum: [...new Set(all.flatMap((each) => each['enum'] as string[]))].sort() }
}

/** `operations` in their section, or untagged if their path is in none. */
const withTag = (path: string, operations: Json): Json => {
  const tag = tagOf(path)
  return Object.fromEntries(
    Object.entries(operations).map(([method, operation]) => [
      method,
      isObject(operation) ? { ...operation, tags: tag === undefined ? [] : [tag] } : operation
    ])
  )
}

const listTags = (operations: Json) =>
  Object.values(operations).flatMap((operation) => isObject(operation) ? operation['tags'] as string[] : [])

/**
 * Joins the documents of the services. Components with the same name and content are merged; if the content differs,
 * the later one is prefixed with the name of its service. Paths that the gateway does not proxy are left out.
 */
export function joinDocuments (
  parts: ServiceDocument[],
  { version, servers, missing }: { version: string, servers: object[], missing: string[] }
) {
  const paths: Record<string, Json> = {}
  const components: Record<string, Record<string, unknown>> = {}
  const note = missing.length > 0
    ? `\n\n**Incomplete**: ${missing.join(', ')} did not respond. Please reload later.`
    : ''

  const errorCodes = joinErrorCodes(parts)
  for (const { name, document } of parts) {
    const renamed = new Map<string, string>()
    const all = Object.entries(document.components ?? {}).flatMap(([kind, members]) =>
      Object.entries(members).map(([key, value]) => ({ kind, key, value: key === 'ErrorCode' ? errorCodes : value }))
    )
    for (const { kind, key, value } of all) {
      const taken = components[kind]?.[key]
      if (taken !== undefined && JSON.stringify(taken) !== JSON.stringify(value)) {
        renamed.set(`#/components/${kind}/${key}`, `#/components/${kind}/${name}.${key}`)
      }
    }
    for (const { kind, key, value } of all) {
      const to = renamed.get(`#/components/${kind}/${key}`)?.split('/').at(-1) ?? key
      components[kind] ??= {}
      components[kind][to] = rewrite(value, renamed)
    }
    for (const [path, operations] of Object.entries(document.paths ?? {})) {
      if (name !== 'gateway' && serviceOf(path) !== name) continue
      paths[path] = { ...paths[path], ...withTag(path, rewrite(operations, renamed) as Json) }
    }
  }

  const used = new Set(Object.values(paths).flatMap(listTags))
  const { brand } = readBrand()
  return {
    openapi: '3.1.0',
    info: {
      title: `${brand.name} API`,
      version,
      description: apiGuideOf(brand) + note,
      contact: { name: 'The operators of this server' },
      license: { name: 'MIT', identifier: 'MIT' }
    },
    servers,
    tags: tags.filter(({ name }) => used.has(name)).map(({ name, description }) => ({ name, description })),
    paths,
    components,
    ...(missing.length > 0 && { 'x-missing': missing })
  }
}
