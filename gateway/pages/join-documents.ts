import { serviceOf } from '../routes.ts'

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
  const conventions =
    'Every response is JSON: `{success: true, …}`, or `{success: false, error, code}`. Operations with a lock need ' +
    '`Authorization: Bearer <access token>`. Unknown body fields and query parameters are ignored and listed in the ' +
    'header `x-ignored-fields`.'
  const note = missing.length > 0
    ? `\n\n**Incomplete**: ${missing.join(', ')} did not respond. Please reload later.`
    : ''

  for (const { name, document } of parts) {
    const renamed = new Map<string, string>()
    const all = Object.entries(document.components ?? {}).flatMap(([kind, members]) =>
      Object.entries(members).map(([key, value]) => ({ kind, key, value }))
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
      paths[path] = { ...paths[path], ...rewrite(operations, renamed) as Json }
    }
  }

  return {
    openapi: '3.1.0',
    info: {
      title: 'Tandem',
      version,
      description: conventions + note
    },
    servers,
    tags: parts.map(({ name }) => ({ name })),
    paths,
    components,
    ...(missing.length > 0 && { 'x-missing': missing })
  }
}
