import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { ACCESS_TOKEN } from './authentication.ts'
import { exampleOf, type Schema } from './examples.ts'
import type { HostileRequest } from './fuzz.ts'
import type { KeySet } from './keys.ts'
import { createLogger } from './logging.ts'
import { createServer } from './server.ts'
import type { Routes, ServerOptions } from './server.ts'

export { fuzzApi } from './fuzz.ts'

const kid = 'test'
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string

/** The key set that `bearer` signs for. */
export const testKeys: KeySet = {
  find: async (wanted) => (wanted === kid ? pem : undefined),
  has: (wanted) => wanted === kid,
  close () {}
}

/** Logs nothing but the causes of answers with 500, which a failing test should show. */
export const silentLog = createLogger('test', 'error', {
  write (line) {
    const { msg, err } = JSON.parse(line) as { msg?: string, err?: { stack?: string } }
    if (msg === 'failed') process.stderr.write(`answered 500: ${err?.stack ?? line}\n`)
  }
})

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** An ES256 token of any header and claims, for tests of what must be refused too. */
export function signToken (claims: object, header: object = {}, key = privateKey) {
  const content = `${encode({ alg: ACCESS_TOKEN.algorithm, typ: ACCESS_TOKEN.type, kid, ...header })}.${encode(claims)}`
  return `${content}.${sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

/** A root key, and both halves of it as the variables have them. */
export function createRootKey () {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    privateKey,
    privateText: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    publicText: publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
  }
}

interface Bearer { role?: string, sessionId?: string, expiresIn?: number }

/** The headers of a request by an account. `expiresIn` in seconds. */
export function bearer (accountId: string, { role = 'USER', sessionId = randomUUID(), expiresIn = ACCESS_TOKEN.lifetimeSeconds }: Bearer = {}) {
  const now = Math.floor(Date.now() / 1000)
  const { issuer: iss, audience: aud } = ACCESS_TOKEN
  return { authorization: `Bearer ${signToken({ iss, aud, sub: accountId, sid: sessionId, role, iat: now, exp: now + expiresIn })}` }
}

/** A server with `routes` and nothing behind it, closed when the test ends. */
export async function testServer (t: { after: (close: () => unknown) => unknown }, routes: Routes = async () => {}, options: Partial<ServerOptions> = {}) {
  const app = await createServer({ name: 'test', log: silentLog, keys: testKeys, ...options })
  t.after(() => app.close())
  await app.register(routes)
  return app
}

interface RawRequest { path: string, headers?: Record<string, string>, body: Buffer, chunked?: boolean, close?: boolean }

/**
 * Sends a POST over a bare socket, whole, and reads only then, as many clients do. Returns the answer, whose status is 0 when the connection was reset
 * before an answer could be read.
 */
export async function postThenRead (port: number, { path, headers = {}, body, chunked = false, close = false }: RawRequest) {
  const socket = connect(port, '127.0.0.1')
  const received: Buffer[] = []
  let failed = ''
  socket.on('error', (error: NodeJS.ErrnoException) => { failed = error.code ?? error.message })
  await once(socket, 'connect')
  const closed = new Promise((resolve) => socket.on('close', resolve))
  const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`
  const more = Object.entries({ ...headers, ...(close && { connection: 'close' }) }).map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${length}\r\n${more}\r\n`)
  for (let at = 0; at < body.length && !socket.destroyed; at += 65_536) {
    const piece = body.subarray(at, at + 65_536)
    const framed = chunked ? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]) : piece
    if (!socket.write(framed)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed])
  }
  if (chunked && !socket.destroyed) socket.write('0\r\n\r\n')
  const read = () => {
    const [head = '', text = ''] = Buffer.concat(received).toString('latin1').split('\r\n\r\n')
    const whole = text.length > 0 && text.length === Number(/content-length: (\d+)/i.exec(head)?.[1])
    return { status: Number(head.split(' ')[1] ?? 0), text, whole, closes: /^connection: close/im.test(head), failed }
  }
  socket.on('data', (chunk: Buffer) => {
    received.push(chunk)
    if (read().whole) socket.destroy()
  })
  await closed
  return read()
}

/** Sends to `app` without a network, as `accountId`, for `listBadAnswers`. */
export const createInjector = (app: Pick<FastifyInstance, 'inject'>, headers: Record<string, string>) => async (request: HostileRequest) => {
  const { statusCode, headers: { 'content-type': type }, body } = await app.inject({ ...request, headers: { ...headers, ...request.headers } } as InjectOptions)
  return { status: statusCode, type: String(type), body }
}

interface Media { schema?: Schema, example?: unknown, examples?: Record<string, { value: unknown }> }

interface Operation {
  requestBody?: { content?: Record<string, Media> }
  responses?: Record<string, { content?: Record<string, Media> }>
}

/** What a server's document leaves without a whole example, or with one that its own schema refuses: `POST /feed body: …`. None, in a finished service. */
export async function listMissingExamples (app: Pick<FastifyInstance, 'inject'>) {
  const { paths } = (await app.inject('/openapi.json')).json() as { paths: Record<string, Record<string, Operation>> }
  const ajv = addFormats.default(new Ajv({ strict: false, allowUnionTypes: true }))
  const missing: string[] = []
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { requestBody, responses = {} }] of Object.entries(operations)) {
      for (const [part, described] of Object.entries({ body: requestBody, ...responses })) {
        for (const { schema, example, examples } of Object.values(described?.content ?? {})) {
          // A form's example would be a file.
          if (!schema || JSON.stringify(schema).includes('"binary"')) continue
          const operation = `${method.toUpperCase()} ${path} ${part}`
          const shown = examples ? Object.values(examples).map(({ value }) => value) : [example]
          for (const each of shown) {
            if (each === undefined) missing.push(`${operation}: ${listBare(schema).join(', ')}`)
            else if (!ajv.validate(schema, each)) missing.push(`${operation}: ${ajv.errorsText()}`)
          }
        }
      }
    }
  }
  return missing
}

/** The parts of a schema that want an example, as paths. */
function listBare (schema: Schema, path = ''): string[] {
  if (exampleOf(schema) !== undefined) return []
  const within = schema.anyOf?.[0] ?? schema.items
  if (within) return listBare(within, path)
  if (!schema.properties) return [path]
  return Object.entries(schema.properties).flatMap(([name, property]) => listBare(property, `${path}/${name}`))
}

/** A secret that addresses of private images are signed with. */
export const mediaSigningKey = 'a-secret-for-tests-of-private-images'
