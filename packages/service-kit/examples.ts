/** As much of a JSON Schema as this kit reads. */
export interface Schema {
  const?: unknown
  default?: unknown
  examples?: unknown[]
  enum?: unknown[]
  anyOf?: Schema[]
  required?: string[]
  properties?: Record<string, Schema>
  items?: Schema
  type?: string | string[]
  minimum?: number
}

/**
 * An example of what `schema` allows, put together from the `examples` of its parts, or undefined where a part has none. Text has no
 * example unless it is given one: what stands in for it, "string" say, would tell a reader nothing.
 */
export function exampleOf (schema: Schema): unknown {
  if (schema.examples?.length) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  // What may be null or something else is shown as something.
  if (schema.anyOf?.[0]) return exampleOf(schema.anyOf[0])
  switch (schema.type) {
    case 'null': return null
    case 'boolean': return true
    case 'integer': case 'number': return schema.minimum ?? 0
    case 'array': return listed(exampleOf(schema.items ?? {}))
    case 'object': return composed(Object.entries(schema.properties ?? {}).map(([name, property]) => [name, exampleOf(property)] as const))
    default: return undefined
  }
}

const listed = (item: unknown) => (item === undefined ? undefined : [item])

const composed = (properties: (readonly [string, unknown])[]) =>
  (properties.some(([, example]) => example === undefined) ? undefined : Object.fromEntries(properties))
