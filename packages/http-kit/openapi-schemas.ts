import { isDeepStrictEqual } from 'node:util'

type Json = Record<string, unknown>

// Our own keywords, which only the validator uses.
const INTERNAL_KEYWORDS = new Set([
  'transform',
  'visibleText',
  'opaqueId',
  'instant',
  'asciiDigits',
  'asciiDomain',
  'cutTo',
  'dropNulls',
  'dropEmpty'
])

// The pattern of Type.Record(Type.String(), …).
const ANY_NAME = '^.*$'

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** `schema` as the document shows it: without our own keywords, and with `documentedAs` in its place. */
export function toPublicSchema (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toPublicSchema)
  if (!isObject(schema)) return schema
  const published: Json = Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => key !== 'expectedFormat' && !(INTERNAL_KEYWORDS.has(key) && !isObject(value)))
      .map(([key, value]) => [key, key === 'format' && value === 'client-url' ? 'uri' : toPublicSchema(value)])
  )
  // The document shows what to send or expect, although the server accepts or returns any value here.
  if (published['documentedAs'] !== undefined) return published['documentedAs']
  const { required, properties } = published
  // A field with a default is optional for clients.
  if (Array.isArray(required) && isObject(properties)) {
    published['required'] = required.filter((name: string) => {
      const property = properties[name]
      return !isObject(property) || property['default'] === undefined
    })
  }
  return published
}

/** Requests may have undeclared fields, which are ignored. So request schemas do not forbid them. */
export function toRequestSchema (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toRequestSchema)
  if (!isObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => !(key === 'additionalProperties' && value === false))
      .map(([key, value]) => [key, toRequestSchema(value)])
  )
}

/**
 * The same for a body, with defaults in words: some generators of clients make a field with a `default` required, as it
 * always has a value for the server.
 */
export function toBodySchema (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toBodySchema)
  if (!isObject(schema)) return schema
  const walked = Object.fromEntries(
    Object.entries(toRequestSchema(schema) as Json).map(([key, each]) => [key, toBodySchema(each)])
  )
  const { default: value, ...rest } = walked
  // An object is the schema of a field with this name.
  if (value === undefined || isObject(value)) return walked
  const text = `Default: ${typeof value === 'string' ? value : JSON.stringify(value)}`
  return { examples: [value], ...rest, description: [rest['description'], text].filter(Boolean).join('. ') }
}

/**
 * Moves each schema made by `named` into `components`, and returns `value` with references in their places.
 * @throws if two different schemas have one name
 */
export function moveNamedSchemas (value: unknown, components: Json): unknown {
  if (Array.isArray(value)) return value.map((each) => moveNamedSchemas(each, components))
  if (!isObject(value)) return value
  const { schemaName, ...rest } = value
  const moved = Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, moveNamedSchemas(each, components)]))
  const schema = discriminate(simplify(moved), components)
  if (typeof schemaName !== 'string') return schema
  if (components[schemaName] !== undefined && !isDeepStrictEqual(components[schemaName], schema)) {
    throw new Error(`Two different schemas are named ${schemaName}: rename one`)
  }
  components[schemaName] = schema
  return { $ref: `#/components/schemas/${schemaName}` }
}

/** Generators of clients know neither patterns of names, nor a type beside the branches of a union. */
function simplify (schema: Json): Json {
  const { patternProperties, type, ...rest } = schema
  if (isObject(patternProperties) && isObject(patternProperties[ANY_NAME])) {
    return { type, ...rest, additionalProperties: patternProperties[ANY_NAME] }
  }
  if (typeof type !== 'string' || !Array.isArray(rest['anyOf'])) return schema
  return { ...rest, anyOf: rest['anyOf'].map((each: Json) => ({ type, ...each })) }
}

/** A union of named objects that one constant field tells apart gets a discriminator, so that clients can narrow it. */
function discriminate (schema: Json, components: Json): Json {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || anyOf.length < 2) return schema
  const references = anyOf.map((each) => isObject(each) ? each['$ref'] : undefined)
  if (!references.every((each) => typeof each === 'string')) return schema
  const constants = references.map((each) => listConstants(components[each.split('/').at(-1) ?? '']))
  const propertyName = Object.keys(constants[0] ?? {}).find((name) =>
    new Set(constants.map((each) => each[name])).size === anyOf.length && constants.every((each) => name in each)
  )
  if (propertyName === undefined) return schema
  const mapping = Object.fromEntries(references.map((each, index) => [constants[index]?.[propertyName], each]))
  return { ...rest, oneOf: anyOf, discriminator: { propertyName, mapping } }
}

/** The fields of an object that have only one value. */
function listConstants (schema: unknown): Record<string, string> {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {}
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]) => {
      if (!isObject(property)) return []
      const values = Array.isArray(property['enum']) ? property['enum'] : [property['const']]
      return values.length === 1 && typeof values[0] === 'string' ? [[name, values[0]]] : []
    })
  )
}
