import { propagation } from '@opentelemetry/api'
import type { FastifyRequest } from 'fastify'
import { Pool } from 'undici'
import { ServiceRefused, ServiceUnavailable } from './errors.ts'
import { serviceNames, type ServiceName } from './services.ts'

const TIMEOUT_MS = 3_000
const CONNECT_TIMEOUT_MS = 1_000
const CONNECTIONS = 32
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024

/** What a request to a service carries from that of the operator. */
export interface Caller {
  request: FastifyRequest
  language: string
  /** The operator's token; undefined before they have one. */
  token?: string
}

export interface ServiceRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  body?: object
  headers?: Record<string, string>
}

/** The services, as the console calls them. */
export interface Services {
  /** @returns `data` of the response @throws ServiceRefused, ServiceUnavailable */
  call<T>(service: ServiceName, caller: Caller, request: ServiceRequest): Promise<T>
  /** A picture. @throws ServiceRefused, ServiceUnavailable */
  fetchPicture(service: ServiceName, caller: Caller, path: string): Promise<Buffer>
  /** A picture, or the part of a video that the browser asks for. @throws ServiceRefused, ServiceUnavailable */
  fetchFile(service: ServiceName, caller: Caller, path: string): Promise<ServiceFile>
  close(): Promise<void>
}

export interface ServiceFile {
  bytes: Buffer
  type: string
  /** Only of a part. */
  range?: string
}

export function createServices (urls: Record<ServiceName, string>): Services {
  const pools = Object.fromEntries(
    serviceNames.map((name) => [
      name,
      new Pool(urls[name], { connections: CONNECTIONS, connect: { timeout: CONNECT_TIMEOUT_MS } })
    ])
  ) as Record<ServiceName, Pool>

  async function send (
    service: ServiceName,
    caller: Caller,
    { method = 'GET', path, body, headers = {} }: ServiceRequest
  ) {
    try {
      const response = await pools[service].request({
        path,
        method,
        headers: { ...headersFor(caller, body), ...headers },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT_MS)
      })
      const bytes = Buffer.from(await response.body.arrayBuffer())
      if (bytes.length > MAX_RESPONSE_BYTES) throw new Error(`the response of ${path} is too long`)
      if (response.statusCode >= 500) throw new Error(`${service} responded with ${response.statusCode}`)
      return { statusCode: response.statusCode, headers: response.headers, bytes }
    } catch (error) {
      caller.request.log.warn({ err: error, service }, 'a service does not respond')
      throw new ServiceUnavailable(service, { cause: error })
    }
  }

  return {
    async call<T> (service: ServiceName, caller: Caller, request: ServiceRequest) {
      const { statusCode, bytes } = await send(service, caller, request)
      const { data } = readEnvelope(service, { statusCode, bytes })
      return data as T
    },
    async fetchPicture (service, caller, path) {
      const { statusCode, bytes } = await send(service, caller, { path })
      if (statusCode !== 200) readEnvelope(service, { statusCode, bytes })
      return bytes
    },
    async fetchFile (service, caller, path) {
      const { range } = caller.request.headers
      const response = await send(service, caller, { path, ...(range !== undefined && { headers: { range } }) })
      if (response.statusCode !== 200 && response.statusCode !== 206) readEnvelope(service, response)
      const { 'content-type': type, 'content-range': part } = response.headers
      return { bytes: response.bytes, type: String(type), ...(typeof part === 'string' && { range: part }) }
    },
    close: async () => void await Promise.all(Object.values(pools).map((pool) => pool.destroy()))
  }
}

interface Response {
  statusCode: number
  bytes: Buffer
}

function headersFor ({ request, language, token }: Caller, body: object | undefined) {
  const headers: Record<string, string> = {
    accept: 'application/json',
    'accept-language': language,
    'x-forwarded-for': request.ip,
    // Services write it to the audit.
    'x-request-id': request.id,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(token !== undefined && { authorization: `Bearer ${token}` })
  }
  propagation.inject(request.trace, headers)
  return headers
}

interface Envelope {
  success?: boolean
  data?: unknown
  code?: string
  error?: string
}

function readEnvelope (service: ServiceName, { statusCode, bytes }: Response): Envelope {
  let envelope: Envelope
  try {
    envelope = JSON.parse(bytes.toString()) as Envelope
  } catch (error) {
    throw new ServiceUnavailable(service, { cause: error })
  }
  if (envelope.success) return envelope
  const { code = 'SERVER_ERROR', error = '' } = envelope
  throw new ServiceRefused({ service, statusCode, code, text: error })
}

/** What `work` returns; undefined, and the name added to `unavailable`, if a service does not respond. */
export async function tolerate<T> (work: Promise<T>, unavailable: Set<ServiceName>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ServiceUnavailable)) throw error
    unavailable.add(error.service)
    return undefined
  }
}
