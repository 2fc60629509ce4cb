import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifyInstance } from 'fastify'
import { exampleOf, type Schema } from '../examples.ts'
import { resolveReferences } from './references.ts'

interface Media {
  schema?: Schema
  example?: unknown
  examples?: Record<string, { value: unknown }>
}

interface Operation {
  requestBody?: { content?: Record<string, Media> }
  responses?: Record<string, { content?: Record<string, Media> }>
}

interface ApiPaths {
  paths: Record<string, Record<string, Operation>>
}

/**
 * Lists the bodies and responses of a server's OpenAPI document without a complete, valid example: `POST /feed body:
 * …`.
 */
export async function listMissingExamples (app: Pick<FastifyInstance, 'inject'>) {
  const { paths } = resolveReferences((await app.inject('/openapi.json')).json() as ApiPaths)
  const ajv = addFormats.default(new Ajv({ strict: false, allowUnionTypes: true }))
  const missing: string[] = []
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { requestBody, responses = {} }] of Object.entries(operations)) {
      for (const [part, described] of Object.entries({ body: requestBody, ...responses })) {
        for (const { schema, example, examples } of Object.values(described?.content ?? {})) {
          // The example of a form would be a file.
          if (!schema || JSON.stringify(schema).includes('"binary"')) continue
          const operation = `${method.toUpperCase()} ${path} ${part}`
          const candidates = examples ? Object.values(examples).map(({ value }) => value) : [example]
          for (const each of candidates) {
            if (each === undefined) missing.push(`${operation}: ${listPathsWithoutExample(schema).join(', ')}`)
            else if (!ajv.validate(schema, each)) missing.push(`${operation}: ${ajv.errorsText()}`)
          }
        }
      }
    }
  }
  return missing
}

/** The paths of a schema's parts that need an example. */
function listPathsWithoutExample (schema: Schema, path = ''): string[] {
  if (exampleOf(schema) !== undefined) return []
  const within = (schema.anyOf ?? schema.oneOf)?.[0] ?? schema.items
  if (within) return listPathsWithoutExample(within, path)
  if (!schema.properties) return [path]
  return Object.entries(schema.properties).flatMap(([name, property]) =>
    listPathsWithoutExample(property, `${path}/${name}`)
  )
}
