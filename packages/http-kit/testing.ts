import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { createLogger } from '@tandem/process-kit'
import { ACCESS_TOKEN } from './tokens.ts'
import { exampleOf, type Schema } from './examples.ts'
import type { FuzzRequest } from './fuzz.ts'
import type { KeySet } from './keys.ts'
import { resolveReferences } from './references.ts'
import { createServer } from './server.ts'
import type { Routes, ServerOptions } from './server.ts'

export { fuzzApi } from './fuzz.ts'
export { listReads, type Read } from './reads.ts'
export { resolveReferences } from './references.ts'

// Node throws it as an uncaught exception, which fails the test that sent the request.
subscribe('tandem.undocumented-error', (message) => {
  throw new Error(String(message))
})

const kid = 'test'
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string

/** The key set that verifies the tokens of `bearer`. */
export const testKeys: KeySet = {
  find: async (wanted) => (wanted === kid ? pem : undefined),
  has: (wanted) => wanted === kid,
  close () {}
}

/** Logs nothing except the causes of 500 responses, which a failing test should show. */
export const silentLog = createLogger('test', 'error', {
  write (line) {
    const { msg, err } = JSON.parse(line) as { msg?: string, err?: { stack?: string } }
    if (msg === 'request failed') process.stderr.write(`responded 500: ${err?.stack ?? line}\n`)
  }
})

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** Signs an ES256 token with any header and claims, also for tests of invalid tokens. */
export function signToken (claims: object, header: object = {}, key = privateKey) {
  const content = `${encode({ alg: ACCESS_TOKEN.algorithm, typ: ACCESS_TOKEN.type, kid, ...header })}.${encode(claims)}`
  return `${content}.${sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

/** Creates a root key, with both halves in the format of the variables. */
export function createRootKey () {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    privateKey,
    privateText: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    publicText: publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  }
}

interface BearerOptions {
  role?: string
  sessionId?: string
  expiresInSeconds?: number
}

/** The authorization header of an account. */
export function bearer (
  accountId: string,
  { role = 'USER', sessionId = randomUUID(), expiresInSeconds = ACCESS_TOKEN.lifetimeSeconds }: BearerOptions = {}
) {
  const now = Math.floor(Date.now() / 1000)
  const { issuer: iss, audience: aud } = ACCESS_TOKEN
  return {
    authorization: `Bearer ${
      signToken({ iss, aud, sub: accountId, sid: sessionId, role, iat: now, exp: now + expiresInSeconds })
    }`
  }
}

/** Creates a server with `routes` that is closed when the test ends. */
export async function testServer (
  t: { after: (close: () => unknown) => unknown },
  routes: Routes = async () => {},
  options: Partial<ServerOptions> = {}
) {
  const app = await createServer({ name: 'test', log: silentLog, keys: testKeys, ...options })
  t.after(() => app.close())
  await app.register(routes)
  return app
}

interface RawRequest {
  path: string
  headers?: Record<string, string>
  body: Buffer
  chunked?: boolean
  close?: boolean
}

/**
 * Sends a complete POST over a raw socket before it reads, as many clients do. Returns the response; its status is 0 if
 * the connection was reset before a response could be read.
 */
export async function postThenRead (
  port: number,
  { path, headers = {}, body, chunked = false, close = false }: RawRequest
) {
  const socket = connect(port, '127.0.0.1')
  const received: Buffer[] = []
  let failed = ''
  socket.on('error', (error: NodeJS.ErrnoException) => {
    failed = error.code ?? error.message
  })
  await once(socket, 'connect')
  const closed = new Promise((resolve) => socket.on('close', resolve))
  const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`
  const more = Object.entries({ ...headers, ...(close && { connection: 'close' }) }).map(([name, value]) =>
    `${name}: ${value}\r\n`
  ).join('')
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${length}\r\n${more}\r\n`)
  for (let at = 0; at < body.length && !socket.destroyed; at += 65_536) {
    const piece = body.subarray(at, at + 65_536)
    const framed = chunked
      ? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
      : piece
    if (!socket.write(framed)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed])
  }
  if (chunked && !socket.destroyed) socket.write('0\r\n\r\n')
  const read = () => {
    const [head = '', text = ''] = Buffer.concat(received).toString('latin1').split('\r\n\r\n')
    const isComplete = text.length > 0 && text.length === Number(/content-length: (\d+)/i.exec(head)?.[1])
    return {
      status: Number(head.split(' ')[1] ?? 0),
      text,
      isComplete,
      closes: /^connection: close/im.test(head),
      failed
    }
  }
  socket.on('data', (chunk: Buffer) => {
    received.push(chunk)
    if (read().isComplete) socket.destroy()
  })
  await closed
  return read()
}

/** Creates the `send` of `fuzzApi`: it injects requests into `app` with `headers`. */
export const createInjector =
  (app: Pick<FastifyInstance, 'inject'>, headers: Record<string, string>) => async (request: FuzzRequest) => {
    const { statusCode, headers: { 'content-type': type }, body } = await app.inject(
      { ...request, headers: { ...headers, ...request.headers } } as InjectOptions
    )
    return { status: statusCode, type: String(type), body }
  }

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
