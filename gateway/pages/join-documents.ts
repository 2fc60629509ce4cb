import { serviceOf } from '../routes.ts'

type Json = Record<string, unknown>

/** An OpenAPI 3.1 document, as far as it is looked into here. */
export interface Document {
  paths?: Record<string, Json>
  components?: Record<string, Record<string, unknown>>
  tags?: Array<{ name: string }>
}

interface Part { name: string, document: Document }

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** `value` with each `$ref` that is in `renamed` changed to what stands there. */
function rewrite (value: unknown, renamed: Map<string, string>): unknown {
  if (Array.isArray(value)) return value.map((each) => rewrite(each, renamed))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) =>
    [key, key === '$ref' && typeof each === 'string' ? renamed.get(each) ?? each : rewrite(each, renamed)]))
}

/**
 * Joins what the services say of themselves into one document. Components of the same name and content are one; of the same name and
 * different content, the later ones get the name of their service before theirs. Addresses that the gateway does not pass on are left out.
 */
export function joinDocuments (parts: Part[], { version, servers, missing }: { version: string, servers: object[], missing: string[] }) {
  const paths: Record<string, Json> = {}
  const components: Record<string, Record<string, unknown>> = {}
  const note = missing.length > 0 ? `\n\n**Incomplete**: ${missing.join(', ')} could not be asked just now.` : ''

  for (const { name, document } of parts) {
    const renamed = new Map<string, string>()
    const all = Object.entries(document.components ?? {}).flatMap(([kind, members]) => Object.entries(members).map(([key, value]) => ({ kind, key, value })))
    for (const { kind, key, value } of all) {
      const taken = components[kind]?.[key]
      if (taken !== undefined && JSON.stringify(taken) !== JSON.stringify(value)) renamed.set(`#/components/${kind}/${key}`, `#/components/${kind}/${name}.${key}`)
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
      description: `Every answer is JSON: \`{success: true, …}\`, or \`{success: false, error, code}\`. Where a lock is shown, send \`Authorization: Bearer <access token>\`. Unknown fields of a body and unknown query parameters are ignored, and named in the header \`x-ignored-fields\`.${note}`
    },
    servers,
    tags: parts.map(({ name }) => ({ name })),
    paths,
    components,
    ...(missing.length > 0 && { 'x-missing': missing })
  }
}
