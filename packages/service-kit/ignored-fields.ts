import type { FastifyInstance } from 'fastify'
import type { Schema } from './examples.ts'

const maxNames = 20
const maxNameLength = 64

/** Where in `value` fields stand that `schema` does not name, such as `device.colour` or `items.*.note`. */
function listUnknown (schema: Schema & { additionalProperties?: unknown }, value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) {
    const { items } = schema
    return items ? value.flatMap((each) => listUnknown(items, each, `${path}*.`)) : []
  }
  // Of what may be null or an object, it is the object.
  const object = schema.properties ? schema : schema.anyOf?.find(({ properties }) => properties)
  if (!object?.properties || schema.additionalProperties === true) return []
  const { properties } = object
  return Object.entries(value).flatMap(([name, inner]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    return property ? listUnknown(property, inner, `${path}${name}.`) : [path + name]
  })
}

/** Names as a header can hold them, each once and not too many. */
function writeNames (names: string[]) {
  const safe = [...new Set(names)].slice(0, maxNames).map((name) => name.slice(0, maxNameLength).replace(/[^\w.*$-]/g, '?'))
  return safe.join(', ')
}

/**
 * Names what a route ignores of a request in the header `x-ignored-fields`: query parameters and fields of the body that its schema does not have. A route
 * without a schema, as of a proxy, ignores nothing.
 */
export function nameIgnoredFields (app: FastifyInstance) {
  app.addHook('preValidation', (request, reply, done) => {
    const { schema } = request.routeOptions
    if (!schema) return done()
    const inQuery = listUnknown((schema.querystring ?? { properties: {} }) as Schema, request.query)
    const inBody = schema.body ? listUnknown(schema.body as Schema, request.body) : []
    if (inQuery.length + inBody.length > 0) reply.header('x-ignored-fields', writeNames([...inQuery, ...inBody]))
    done()
  })
}
