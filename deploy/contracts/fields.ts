/** One field of a message, as far as readers and writers of the message depend on it. */
export interface Field {
  /** Sorted: `string`, `string(uuid)`, `integer`, `null`, `object`, `array`, `any`, or a literal as JSON. */
  types: string[]
  optional?: boolean
  limits?: Limits
}

type Limits = Record<string, string | number | boolean>

/**
 * Fields by their path: `user.name`, `photos[]`, `totals.*` for the values of a map, `log(WATER).ml` for those of one
 * member of a union, and the empty path for the whole message.
 */
export type Fields = Record<string, Field>

type Json = Record<string, unknown>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const LIMITS = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties'
]
const UNKNOWN = ['allOf', 'not', 'if', 'prefixItems', 'dependentSchemas', 'unevaluatedProperties']

/**
 * The fields of the messages that `schema`, a JSON Schema, describes. Of a union, a field is optional if one of the
 * objects can lack it. If a constant tells the objects apart, each has its own fields, too.
 * @param document what `$ref` leads into
 * @throws for a keyword that is not compared here, since a change of it would go unnoticed
 */
export function listFields (schema: unknown, document: unknown = {}): Fields {
  // What TypeBox adds for itself is no part of JSON.
  return read(JSON.parse(JSON.stringify(schema)), '', [])

  function read (schema: unknown, path: string, within: unknown[]): Fields {
    const resolved = resolve(schema, document)
    // A schema that contains itself: its fields are known from the first time.
    if (!isObject(resolved) || within.includes(resolved)) return { [path]: { types: ['any'] } }
    const unknown = UNKNOWN.find((keyword) => keyword in resolved)
    if (unknown) {
      throw new Error(
        `The comparison of contracts does not support "${unknown}", which is used at "${path}": add it to fields.ts, ` +
          'or write the schema without it'
      )
    }
    const variants = resolved['anyOf'] ?? resolved['oneOf']
    if (Array.isArray(variants)) {
      const { type } = resolved
      const members = variants.map((variant) => isObject(variant) ? { type, ...variant } : variant)
      const readAll = (pathOf: (index: number) => string) =>
        members.map((member, index) => read(member, pathOf(index), [...within, resolved]))
      const tags = listTags(members.map((member) => resolve(member, document)))
      return Object.assign(
        joinVariants(readAll(() => path)),
        ...tags ? readAll((index) => `${path}(${tags[index]})`) : []
      ) as Fields
    }
    return { [path]: readField(resolved), ...readChildren(resolved, path, [...within, resolved]) }
  }

  function readChildren (schema: Json, path: string, within: unknown[]): Fields {
    const { properties, items, additionalProperties, patternProperties } = schema
    const required = Array.isArray(schema['required']) ? schema['required'] : []
    const children = [
      ...Object.entries(isObject(properties) ? properties : {}).map(([name, child]) => {
        const at = path === '' ? name : `${path}.${name}`
        const fields = read(child, at, within)
        const own = fields[at]
        return required.includes(name) || !own ? fields : { ...fields, [at]: { ...own, optional: true } }
      }),
      ...isObject(items) ? [read(items, `${path}[]`, within)] : [],
      ...[additionalProperties, ...Object.values(isObject(patternProperties) ? patternProperties : {})].filter(isObject)
        .map((values) => read(values, path === '' ? '*' : `${path}.*`, within))
    ]
    return Object.assign({}, ...children) as Fields
  }
}

/** What `schema` refers to, if it is a reference into `document`; else itself. */
export function resolve (schema: unknown, document: unknown): unknown {
  if (!isObject(schema) || typeof schema['$ref'] !== 'string') return schema
  const [start, ...steps] = schema['$ref'].split('/')
  const found = steps.reduce<unknown>(
    (at, step) => isObject(at) ? at[step.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined,
    document
  )
  if (start !== '#' || found === undefined) throw new Error(`There is nothing at ${schema['$ref']}`)
  return resolve(found, document)
}

function readField (schema: Json): Field {
  const limits = Object.fromEntries(LIMITS.flatMap((name): [string, string | number | boolean][] => {
    const value = schema[name]
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [[name, value]] : []
  }))
  return { types: readTypes(schema), ...Object.keys(limits).length > 0 && { limits } }
}

function readTypes ({ type, format, enum: values, const: value }: Json): string[] {
  if (Array.isArray(values)) return values.map((each) => JSON.stringify(each)).sort()
  if (value !== undefined) return [JSON.stringify(value)]
  const types = [type].flat().filter((each) => typeof each === 'string')
  if (types.length === 0) return ['any']
  return types.map((each) => each === 'string' && typeof format === 'string' ? `string(${format})` : each).sort()
}

/** What tells objects apart: the values of the first required field that is another constant text in each of them. */
function listTags (members: unknown[]): string[] | undefined {
  const valuesOf = (name: string) =>
    members.flatMap((member) => {
      const { properties, required } = isObject(member) ? member : {}
      const field = isObject(properties) && Array.isArray(required) && required.includes(name) && properties[name]
      return isObject(field) && typeof field['const'] === 'string' ? [field['const']] : []
    })
  const [first] = members
  const names = isObject(first) && isObject(first['properties']) ? Object.keys(first['properties']) : []
  return names.map(valuesOf).find((values) => values.length > 1 && new Set(values).size === members.length)
}

function joinVariants (variants: Fields[]): Fields {
  const paths = new Set(variants.flatMap((fields) => Object.keys(fields)))
  return Object.fromEntries([...paths].map((path) => {
    const found = variants.flatMap((fields) => fields[path] ?? [])
    const isMissing = variants.some((fields) =>
      !fields[path] && fields[parentOf(path)]?.types.includes('object') && !isPart(path)
    )
    const limits = Object.assign({}, ...found.map((field) => field.limits)) as Limits
    return [path, {
      types: [...new Set(found.flatMap((field) => field.types))].sort(),
      ...(isMissing || found.some((field) => field.optional)) && { optional: true },
      ...Object.keys(limits).length > 0 && { limits }
    }]
  }))
}

/** Whether `path` names a member of a union. */
export const isMember = (path: string) => path.endsWith(')')

/** Whether `path` names what is no field that can be missing: the elements of a list, the values of a map, a member. */
export const isPart = (path: string) => path.endsWith('[]') || path.endsWith('*') || isMember(path)

/** The path of what the field is in. */
export function parentOf (path: string) {
  if (path.endsWith('[]')) return path.slice(0, -2)
  return path.slice(0, Math.max(path.lastIndexOf(isMember(path) ? '(' : '.'), 0))
}
