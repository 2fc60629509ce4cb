import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { exampleOf, type Schema } from './examples.ts'
import { Failure } from './schemas.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** Whether the route is an extension of the published API. */
    'x-extension'?: boolean
    /** The form field of the uploaded file, for routes that take multipart/form-data. */
    fileField?: string
  }
}

interface Published {
  [key: string]: unknown
  required?: string[]
  properties?: Record<string, { default?: unknown } | undefined>
  documentedAs?: unknown
}

interface Content {
  [type: string]: { schema?: Schema, example?: unknown, examples?: unknown }
}

interface Operation {
  responses?: Record<string, { $ref?: string, content?: Content }>
  requestBody?: { required?: boolean, content?: Content }
}

function addExamples (content: Content = {}) {
  // OpenAPI does not allow `example` together with `examples`.
  for (const media of Object.values(content)) {
    if (media.schema && !media.examples) media.example ??= exampleOf(media.schema)
  }
}

// Our own keywords, which only the validator uses.
const INTERNAL_KEYWORDS = new Set(['transform', 'opaqueId', 'dropNulls', 'dropEmpty'])

function toPublicSchema (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toPublicSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const published: Published = Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => !(INTERNAL_KEYWORDS.has(key) && (Array.isArray(value) || value === true)))
      .map(([key, value]) => [key, key === 'format' && value === 'client-url' ? 'uri' : toPublicSchema(value)])
  )
  // The document shows what to send or expect, although the server accepts or returns any value here.
  if (published.documentedAs !== undefined) return published.documentedAs
  const { required, properties } = published
  // A field with a default is optional for clients.
  if (Array.isArray(required) && properties) {
    published.required = required.filter((name) => properties[name]?.default === undefined)
  }
  return published
}

/** Requests may have undeclared fields, which are ignored. So request schemas do not forbid them. */
function toRequestSchema (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toRequestSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => !(key === 'additionalProperties' && value === false))
      .map(([key, value]) => [key, toRequestSchema(value)])
  )
}

// The form is streamed, so this schema only documents it and validates nothing.
const formBody = (field: string) => ({
  consumes: ['multipart/form-data'],
  body: { type: 'object', required: [field], properties: { [field]: { type: 'string', format: 'binary' } } }
})

/** `GET /feed/:id/like` becomes `getFeedIdLike`. */
const operationIdOf = (method: string, url: string) =>
  method.toLowerCase() +
  url.split(/[^a-zA-Z0-9]+/).filter(Boolean).map((word) => word[0]?.toUpperCase() + word.slice(1)).join('')

/** Serves an OpenAPI 3.1 document of the routes that are added later at GET /openapi.json. */
export async function describeRoutes (app: FastifyInstance, { name }: { name: string }) {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: `Tandem ${name}`, version: '1.0.0' },
      components: {
        securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
        schemas: { Failure: toPublicSchema(Failure) as object },
        responses: {
          Failure: {
            description: 'Any error. `code` identifies it.',
            content: {
              'application/json': { schema: { $ref: '#/components/schemas/Failure' }, example: exampleOf(Failure) }
            }
          }
        }
      }
    },
    convertConstToEnum: false,
    transform ({ schema: { fileField, ...schema }, url, route }) {
      const config = route.config ?? {}
      const extensions = Object.fromEntries(Object.entries(config).filter(([key]) => key.startsWith('x-')))
      const method = [route.method].flat()[0] ?? 'GET'
      const published = toPublicSchema(schema) as object
      return {
        url,
        schema: {
          operationId: operationIdOf(method, url),
          tags: [name],
          ...extensions,
          ...(config.public ? {} : { security: [{ bearer: [] }] }),
          ...published,
          ...('body' in published && { body: toRequestSchema(published.body) }),
          ...('querystring' in published && { querystring: toRequestSchema(published.querystring) }),
          ...(fileField ? formBody(fileField) : {})
        }
      }
    },
    transformObject (documentObject) {
      const document = 'openapiObject' in documentObject ? documentObject.openapiObject : {}
      for (const operations of Object.values(document.paths ?? {})) {
        for (const { responses, requestBody } of Object.values(operations ?? {}) as Operation[]) {
          for (
            const { content } of [requestBody, ...Object.values(responses ?? {})].filter((part) => part !== undefined)
          ) addExamples(content)
          if (responses) responses.default ??= { $ref: '#/components/responses/Failure' }
          // A missing body is read as an empty one.
          if (requestBody && !Object.values(requestBody.content ?? {})[0]?.schema?.required?.length) {
            requestBody.required = false
          }
        }
      }
      return document
    }
  })

  app.get(
    '/openapi.json',
    { schema: { hide: true }, config: { public: true, logged: false } },
    async () => app.swagger()
  )
}
