import { Unavailable } from '@tandem/process-kit'
import { exampleOf } from './examples.ts'
import { failure } from './envelope.ts'
import * as errors from './errors.ts'
import { describeError, listErrors, type ListedError } from './route-errors.ts'
import { Failure } from './schemas.ts'

interface Response {
  description: string
  [key: string]: unknown
}

/** The name of the response that operations share if nothing but this kit returns the status. */
const SHARED_NAMES: Record<number, string> = {
  400: 'InvalidRequest',
  401: 'Unauthorized',
  404: 'NotFound',
  408: 'RequestTimeout',
  413: 'PayloadTooLarge',
  415: 'UnsupportedMediaType',
  426: 'UpgradeRequired',
  429: 'RateLimited',
  500: 'ServerError',
  503: 'ServiceUnavailable'
}

/** What a route returns whose schema lists no errors. */
const listSharedErrors = () => listErrors({ method: 'POST', schema: { params: {} } })

const refTo = (kind: 'schemas' | 'headers' | 'responses', name: string) => ({ $ref: `#/components/${kind}/${name}` })

const requestId = { 'x-request-id': refTo('headers', 'RequestId') }
const retryAfter = { 'retry-after': refTo('headers', 'RetryAfter') }
const rateLimit = {
  'x-ratelimit-limit': refTo('headers', 'RateLimit'),
  'x-ratelimit-remaining': refTo('headers', 'RateLimitRemaining'),
  'x-ratelimit-reset': refTo('headers', 'RateLimitReset')
}

/** The headers of successful responses. */
export const successHeaders = ({ hasEtag = false }) => ({
  ...requestId,
  ...(hasEtag && { etag: refTo('headers', 'ETag') })
})

const header = (type: 'string' | 'integer', description: string, example: string | number) => ({
  description,
  schema: { type },
  example
})

/** The components of the document that all services share. */
export const sharedComponents = () => ({
  securitySchemes: {
    bearer: {
      type: 'http' as const,
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'The access token of a sign-in or a refresh. It is valid for 15 minutes.'
    }
  },
  headers: {
    RequestId: header(
      'string',
      'Names this request in the logs of the server. Add it to bug reports.',
      '019a9f3e-52c1-7d0a-9b53-3f0f1c2d4e5f'
    ),
    RetryAfter: header('integer', 'Seconds to wait before the request is sent again', 30),
    RateLimit: header(
      'integer',
      'Requests that the route allows per window; only on routes with a limit per address',
      5
    ),
    RateLimitRemaining: header('integer', 'Requests left in this window', 0),
    RateLimitReset: header('integer', 'Seconds until the next window', 42),
    ETag: header('string', 'Names this version of the response. Send it in If-None-Match.', '"pK1c0VqJ3m"')
  },
  responses: {
    Failure: {
      description: 'Any other error. `code` identifies it.',
      headers: requestId,
      content: { 'application/json': { schema: refTo('schemas', 'Failure'), example: exampleOf(Failure) } }
    }
  }
})

/** The codes that any operation can return. */
export const listSharedCodes = (): string[] =>
  [...Object.values(errors), Unavailable].map((Class) => describeError(Class).code)

/** The responses of an operation for `listed`, by status. The shared ones are references into `shared`, and added to it. */
export function describeErrorResponses (
  listed: ListedError[],
  shared: Record<string, unknown>
): Record<string, unknown> {
  const statuses = [...new Set(listed.map(({ statusCode }) => statusCode))].sort((one, other) => one - other)
  return Object.fromEntries(statuses.map((status) => {
    const response = describeStatus(status, listed.filter(({ statusCode }) => statusCode === status))
    const name = SHARED_NAMES[status]
    if (name === undefined) return [status, response]
    shared[name] ??= describeStatus(status, listSharedErrors().filter(({ statusCode }) => statusCode === status))
    const isShared = JSON.stringify(shared[name]) === JSON.stringify(response)
    return [status, isShared ? refTo('responses', name) : response]
  }))
}

function describeStatus (status: number, listed: ListedError[]): Response {
  const messages = listed.map(({ code, message }) => `\`${code}\`: ${message}`)
  const codes = [...new Set(listed.map(({ code }) => code))]
  return {
    description: [...new Set(messages)].join('\n\n'),
    headers: {
      ...requestId,
      ...(status === 429 || status === 503 ? retryAfter : {}),
      ...(status === 429 ? rateLimit : {})
    },
    content: {
      'application/json': {
        schema: refTo('schemas', 'Failure'),
        examples: Object.fromEntries(codes.map((code) => {
          const message = listed.find((each) => each.code === code)?.message ?? ''
          return [code, { value: failure(code, message.replaceAll('`', '')) }]
        }))
      }
    },
    'x-error-codes': codes
  }
}
