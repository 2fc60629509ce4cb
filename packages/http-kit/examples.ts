/** The parts of a JSON Schema that this kit reads. */
export interface Schema {
  const?: unknown
  default?: unknown
  examples?: unknown[]
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  required?: string[]
  properties?: Record<string, Schema>
  items?: Schema
  type?: string | string[]
  minimum?: number
}

/**
 * Builds an example that `schema` allows from the `examples` of its parts. Returns undefined if a part has none: a
 * string needs an explicit example, because a placeholder such as "string" would tell readers nothing.
 */
export function exampleOf (schema: Schema): unknown {
  if (schema.examples?.length) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  // A nullable value is shown as the value.
  const variant = (schema.anyOf ?? schema.oneOf)?.[0]
  if (variant) return exampleOf(variant)
  switch (schema.type) {
    case 'null':
      return null
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return schema.minimum ?? 0
    case 'array':
      return exampleArray(exampleOf(schema.items ?? {}))
    case 'object':
      return exampleObject(
        Object.entries(schema.properties ?? {}).map(([name, property]) => [name, exampleOf(property)] as const)
      )
    default:
      return undefined
  }
}

const exampleArray = (item: unknown) => (item === undefined ? undefined : [item])

const exampleObject = (
  properties: (readonly [string, unknown])[]
) => (properties.some(([, example]) => example === undefined) ? undefined : Object.fromEntries(properties))
