import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Schema } from './examples.ts'

const MAX_NAMES = 20
const MAX_NAME_LENGTH = 64

/** The paths of the fields in `value` that `schema` does not declare, such as `device.colour` or `items.*.note`. */
function listUnknown (schema: Schema & { additionalProperties?: unknown }, value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) {
    const { items } = schema
    return items ? value.flatMap((each) => listUnknown(items, each, `${path}*.`)) : []
  }
  // Of a nullable object, take the object's schema.
  const object = schema.properties ? schema : schema.anyOf?.find(({ properties }) => properties)
  if (!object?.properties || schema.additionalProperties === true) return []
  const { properties } = object
  return Object.entries(value).flatMap(([name, inner]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    return property ? listUnknown(property, inner, `${path}${name}.`) : [path + name]
  })
}

/** Formats names for a header: unique, safe, and limited in number and length. */
function formatNames (names: string[]) {
  const safe = [...new Set(names)].slice(0, MAX_NAMES).map((name) =>
    name.slice(0, MAX_NAME_LENGTH).replace(/[^\w.*$-]/g, '?')
  )
  return safe.join(', ')
}

/**
 * Reports the query parameters and body fields that a route's schema does not declare in the response header
 * `x-ignored-fields`. Routes without a schema, such as those of a proxy, ignore nothing.
 */
export function reportIgnoredFields (app: FastifyInstance) {
  app.addHook('preValidation', (request, reply, done) => {
    const { schema } = request.routeOptions
    if (!schema) return done()
    const inQuery = listUnknown((schema.querystring ?? { properties: {} }) as Schema, request.query)
    const inBody = schema.body ? listUnknown(schema.body as Schema, request.body) : []
    if (inQuery.length + inBody.length > 0) reply.header('x-ignored-fields', formatNames([...inQuery, ...inBody]))
    done()
  })
}

/** Adds body fields that a route ignores because of what others say, such as those of another type of post. */
export function addIgnoredFields (reply: FastifyReply, names: string[]) {
  if (names.length === 0) return
  const undeclared = reply.getHeader('x-ignored-fields')
  reply.header('x-ignored-fields', [...undeclared === undefined ? [] : [undeclared], formatNames(names)].join(', '))
}
