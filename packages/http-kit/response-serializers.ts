import build from 'fast-json-stringify'
import type { FastifyInstance } from 'fastify'

/**
 * Makes `app` compile the serializer of a response when it is first sent, as `validateRequests` does with validators.
 * Compiling all of them at the start took 0.07 to 0.22 s of CPU and 7 to 32 MB in each service.
 */
export function compileSerializersLazily (app: FastifyInstance) {
  app.setSerializerCompiler(({ schema }) => {
    let serialize: ReturnType<typeof build> | undefined
    return (value) => (serialize ??= build(markNullable(schema) as object))(value)
  })
}

/**
 * Writes a union with null as `nullable`. For a union, a serializer compiles a validator of each part, which takes most of
 * the time of a first response, and runs them for each value.
 */
function markNullable (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(markNullable)
  if (typeof schema !== 'object' || schema === null) return schema
  const marked = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, markNullable(value)]))
  const { anyOf, ...rest } = marked
  const [one, nothing] = Array.isArray(anyOf) && anyOf.length === 2 ? anyOf : []
  return one?.type && nothing?.type === 'null' ? { ...one, ...rest, nullable: true } : marked
}
