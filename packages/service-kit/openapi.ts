import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { exampleOf, type Schema } from './examples.ts'
import { Failure } from './schemas.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** Whether the route is an addition to the published interface. */
    'x-extension'?: boolean
    /** The route takes a form, with a file in this field. */
    fileField?: string
  }
}

interface Published {
  [key: string]: unknown
  required?: string[]
  properties?: Record<string, { default?: unknown } | undefined>
  documentedAs?: unknown
}

interface Content { [type: string]: { schema?: Schema, example?: unknown, examples?: unknown } }

interface Operation {
  responses?: Record<string, { $ref?: string, content?: Content }>
  requestBody?: { required?: boolean, content?: Content }
}

function addExamples (content: Content = {}) {
  // One or several: OpenAPI allows no `example` beside `examples`.
  for (const media of Object.values(content)) if (media.schema && !media.examples) media.example ??= exampleOf(media.schema)
}

// Ours, and only of use to the validator.
const internal = new Set(['transform', 'opaqueId', 'dropNulls', 'dropEmpty'])

function publish (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(publish)
  if (typeof schema !== 'object' || schema === null) return schema
  const published: Published = Object.fromEntries(Object.entries(schema)
    .filter(([key, value]) => !(internal.has(key) && (Array.isArray(value) || value === true)))
    .map(([key, value]) => [key, key === 'format' && value === 'client-url' ? 'uri' : publish(value)]))
  // A reader is told what to send or expect, where the server itself takes or gives whatever comes.
  if (published.documentedAs !== undefined) return published.documentedAs
  const { required, properties } = published
  // What has a default need not be sent.
  if (Array.isArray(required) && properties) published.required = required.filter((name) => properties[name]?.default === undefined)
  return published
}

/** Fields that a request's schema does not name are ignored, so no request is described as refusing them. */
function publishRequest (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(publishRequest)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(Object.entries(schema)
    .filter(([key, value]) => !(key === 'additionalProperties' && value === false))
    .map(([key, value]) => [key, publishRequest(value)]))
}

// The form is read as it comes in, so that this is for readers only and validates nothing.
const formBody = (field: string) => ({
  consumes: ['multipart/form-data'],
  body: { type: 'object', required: [field], properties: { [field]: { type: 'string', format: 'binary' } } }
})

/** `GET /feed/:id/like` is `getFeedIdLike`. */
const nameOperation = (method: string, url: string) => method.toLowerCase() +
  url.split(/[^a-zA-Z0-9]+/).filter(Boolean).map((word) => word[0]?.toUpperCase() + word.slice(1)).join('')

/** Describes the routes that follow as OpenAPI 3.1, at GET /openapi.json. */
export async function describeRoutes (app: FastifyInstance, { name }: { name: string }) {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: `Tandem ${name}`, version: '1.0.0' },
      components: {
        securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
        schemas: { Failure: publish(Failure) as object },
        responses: {
          Failure: {
            description: 'Any failure. `code` says which.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' }, example: exampleOf(Failure) } }
          }
        }
      }
    },
    convertConstToEnum: false,
    transform ({ schema: { fileField, ...schema }, url, route }) {
      const config = route.config ?? {}
      const extensions = Object.fromEntries(Object.entries(config).filter(([key]) => key.startsWith('x-')))
      const method = [route.method].flat()[0] ?? 'GET'
      const published = publish(schema) as object
      return {
        url,
        schema: {
          operationId: nameOperation(method, url),
          tags: [name],
          ...extensions,
          ...(config.public ? {} : { security: [{ bearer: [] }] }),
          ...published,
          ...('body' in published && { body: publishRequest(published.body) }),
          ...('querystring' in published && { querystring: publishRequest(published.querystring) }),
          ...(fileField ? formBody(fileField) : {})
        }
      }
    },
    transformObject (documentObject) {
      const document = 'openapiObject' in documentObject ? documentObject.openapiObject : {}
      for (const operations of Object.values(document.paths ?? {})) {
        for (const { responses, requestBody } of Object.values(operations ?? {}) as Operation[]) {
          for (const { content } of [requestBody, ...Object.values(responses ?? {})].filter((part) => part !== undefined)) addExamples(content)
          if (responses) responses.default ??= { $ref: '#/components/responses/Failure' }
          // No body at all is read as an empty one.
          if (requestBody && !Object.values(requestBody.content ?? {})[0]?.schema?.required?.length) requestBody.required = false
        }
      }
      return document
    }
  })

  app.get('/openapi.json', { schema: { hide: true }, config: { public: true, logged: false } }, async () => app.swagger())
}
