import { readBrand } from '@tandem/brand-kit'
import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema } from 'fastify'
import type { TSchema } from 'typebox'
import { exampleOf, type Schema } from './examples.ts'
import { describeErrorResponses, listSharedCodes, sharedComponents, successHeaders } from './openapi-errors.ts'
import { moveNamedSchemas, toBodySchema, toPublicSchema, toRequestSchema } from './openapi-schemas.ts'
import { listErrors, type ListedError } from './route-errors.ts'
import { Failure } from './schemas.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** Whether the route is an extension of the published API. */
    'x-extension'?: boolean
    /** The form field of the uploaded file, for routes that take multipart/form-data. */
    fileField?: string
    /** The form field of another file, which may be missing. */
    optionalFileField?: string
    /** What else a form can have, by its field. */
    formFields?: Record<string, TSchema>
  }
}

interface Content {
  [type: string]: { schema?: Schema, example?: unknown, examples?: unknown }
}

interface Parameter {
  required?: boolean
  example?: unknown
  examples?: unknown
  schema?: Schema
  [key: string]: unknown
}

interface Operation {
  [key: string]: unknown
  parameters?: Parameter[]
  responses?: Record<string, { $ref?: string, description?: string, headers?: object, content?: Content }>
  requestBody?: { required?: boolean, content?: Content }
  'x-errors'?: ListedError[]
}

interface Document {
  paths?: Record<string, Record<string, Operation> | undefined>
  components?: { schemas?: Record<string, unknown>, responses?: Record<string, unknown>, [kind: string]: unknown }
}

function addExamples (content: Content = {}) {
  // OpenAPI does not allow `example` together with `examples`.
  for (const media of Object.values(content)) {
    if (media.schema && !media.examples) media.example ??= exampleOf(media.schema)
  }
}

// The form is streamed, so this schema only documents it and validates nothing.
const formBody = (field: string, optionalField: string | undefined, formFields: Record<string, TSchema> = {}) => ({
  consumes: ['multipart/form-data'],
  body: {
    type: 'object',
    required: [field],
    properties: { [field]: file, ...(optionalField !== undefined && { [optionalField]: file }), ...formFields }
  }
})
const file = { type: 'string', format: 'binary' }

/**
 * Serves an OpenAPI 3.1 document of the routes that are added later at GET /openapi.json. Schemas made by `named` are
 * components, and each operation lists the errors that it can return.
 */
export async function describeRoutes (app: FastifyInstance, { name }: { name: string }) {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: `${readBrand().brand.name} ${name}`, version: '1.0.0' },
      components: sharedComponents() as object
    },
    convertConstToEnum: false,
    transform ({ schema: { fileField, optionalFileField, formFields, errors, ...schema }, url, route }) {
      const config = route.config ?? {}
      const extensions = Object.fromEntries(Object.entries(config).filter(([key]) => key.startsWith('x-')))
      const published = toPublicSchema(schema) as FastifySchema
      return {
        url,
        schema: {
          tags: [name],
          ...extensions,
          security: config.public ? [] : [{ bearer: [] }],
          ...published,
          'x-errors': listErrors({ method: route.method, schema: { ...schema, errors }, config }),
          ...(published.body !== undefined && { body: toBodySchema(published.body) }),
          ...(published.querystring !== undefined && { querystring: toRequestSchema(published.querystring) }),
          ...(fileField ? formBody(fileField, optionalFileField, formFields) : {})
        }
      }
    },
    transformObject: (documentObject) =>
      'openapiObject' in documentObject ? completeDocument(documentObject.openapiObject as Document) as object : {}
  })

  app.get(
    '/openapi.json',
    { schema: { hide: true }, config: { public: true, logged: false } },
    async () => app.swagger()
  )
}

/**
 * Adds examples, headers and the errors in `x-errors` to the operations of `document`, and moves the named schemas to the
 * components.
 */
export function completeDocument ({ paths = {}, components = sharedComponents(), ...document }: Document): Document {
  const responses: Record<string, unknown> = { ...components.responses }
  const codes = new Set(listSharedCodes())
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods ?? {}))) {
    for (const { code } of operation['x-errors'] ?? []) codes.add(code)
    completeOperation(operation, responses)
  }
  const schemas: Record<string, unknown> = {
    ErrorCode: { type: 'string', enum: [...codes].sort(), description: 'The error code, for programs' }
  }
  const code = { $ref: '#/components/schemas/ErrorCode' }
  schemas['Failure'] = moveNamedSchemas({ ...Failure, properties: { ...Failure.properties, code } }, schemas)
  const moved = moveNamedSchemas(paths, schemas) as Document['paths']
  return { ...document, paths: moved, components: { ...components, schemas, responses } }
}

function completeOperation (operation: Operation, sharedResponses: Record<string, unknown>) {
  const { responses = {}, requestBody, 'x-errors': errors = [] } = operation
  for (const { content } of [requestBody, ...Object.values(responses)].filter((part) => part !== undefined)) {
    addExamples(content)
  }
  operation.parameters = operation.parameters?.map(withoutOptionalExample)
  const hasEtag = '304' in responses
  for (const response of Object.values(responses)) response.headers = successHeaders({ hasEtag })
  if (hasEtag) operation.parameters = [...operation.parameters ?? [], ifNoneMatch]
  operation.responses = {
    ...responses,
    ...describeErrorResponses(errors, sharedResponses),
    default: { $ref: '#/components/responses/Failure' }
  }
  delete operation['x-errors']
  // A missing body is read as an empty one.
  if (requestBody && !Object.values(requestBody.content ?? {})[0]?.schema?.required?.length) {
    requestBody.required = false
  }
}

/** Documentation pages send the example of a parameter, and an optional filter with one finds nothing. */
function withoutOptionalExample (parameter: Parameter): Parameter {
  if (parameter.required) return parameter
  const { example: _, examples: __, schema: { examples: ___, ...schema } = {}, ...rest } = parameter
  return { ...rest, schema }
}

const ifNoneMatch = {
  name: 'if-none-match',
  in: 'header',
  required: false,
  description: 'The ETag of the response that the client has. If it is still current, the response is 304.',
  schema: { type: 'string' }
}
