import { generateKeyPairSync, randomBytes, verify } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import type { toFcmMessage } from '../push/fcm.ts'

type FcmMessage = ReturnType<typeof toFcmMessage>

/** A request to send, and the status of its response. */
export interface SendRequest {
  at: number
  token: string
  message: FcmMessage
  status: number | 'none'
}

/** The response instead of 200: an error, or no response at all. */
export type Fault = { status: number, code?: string, retryAfter?: number, field?: string } | 'silence'

const PROJECT = 'tandem-test'
const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'

/**
 * A fake of the parts of Google that pushes need: the exchange of a signed assertion for an access token, and
 * messages:send of FCM HTTP v1. It verifies assertions, and accepts only its own access tokens and messages in FCM's
 * shape. `host` is the name by which the service reaches it.
 */
export async function startFakeFcm ({ port = 0, host = '127.0.0.1' } = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-fcm-'))
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const tokens = new Set<string>()
  const seen: SendRequest[] = []
  let responseTo: (message: FcmMessage, attempt: number) => Fault | undefined = () => undefined
  const attempts = new Map<string, number>()
  let listener: (request: SendRequest) => void = () => {}
  let exchanges = 0

  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  const url = `http://${host}:${(server.address() as AddressInfo).port}`
  const file = path.join(folder, 'service-account.json')
  await writeFile(
    file,
    JSON.stringify({
      type: 'service_account',
      project_id: PROJECT,
      client_email: `push@${PROJECT}.iam.gserviceaccount.com`,
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      private_key_id: 'one',
      token_uri: `${url}/token`
    })
  )

  async function answer (request: IncomingMessage, response: ServerResponse) {
    const body = await text(request)
    if (request.method === 'POST' && request.url === '/token') return exchange(body, response)
    if (request.method === 'POST' && request.url === `/v1/projects/${PROJECT}/messages:send`) {
      return send(request, body, response)
    }
    reply(response, 404, errorBody(404, 'NOT_FOUND'))
  }

  function exchange (body: string, response: ServerResponse) {
    exchanges++
    const form = new URLSearchParams(body)
    const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    const isSigned = verify(
      'sha256',
      Buffer.from(`${header}.${claims}`),
      publicKey,
      Buffer.from(signature, 'base64url')
    )
    const { aud, scope, exp } = isSigned
      ? JSON.parse(Buffer.from(claims, 'base64url').toString()) as { aud: string, scope: string, exp: number }
      : {}
    const isValid = form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
      aud === `${url}/token` && scope === SCOPE && Number(exp) * 1_000 > Date.now()
    if (!isValid) return reply(response, 400, { error: 'invalid_grant', error_description: 'Invalid assertion' })
    const token = randomBytes(16).toString('hex')
    tokens.add(token)
    reply(response, 200, { access_token: token, expires_in: 3599, token_type: 'Bearer' })
  }

  function send (request: IncomingMessage, body: string, response: ServerResponse) {
    if (!tokens.has(request.headers.authorization?.replace('Bearer ', '') ?? '')) {
      return reply(response, 401, errorBody(401, 'UNAUTHENTICATED'))
    }
    const { message } = JSON.parse(body) as { message: FcmMessage }
    const isSilent = !message.notification && !message.android.notification && 'badge' in message.apns.payload.aps
    const isValid = typeof message.token === 'string' &&
      (isSilent || typeof message.notification?.title === 'string') &&
      Object.values(message.data).every((value) => typeof value === 'string') &&
      Buffer.byteLength(JSON.stringify({ ...message, token: '' })) <= 4_096
    if (!isValid) return reply(response, 400, errorBody(400, 'INVALID_ARGUMENT', 'message'))

    const key = `${message.token} ${message.android.collapse_key}`
    const attempt = (attempts.get(key) ?? 0) + 1
    attempts.set(key, attempt)
    const fault = responseTo(message, attempt)
    const sendRequest: SendRequest = {
      at: Date.now(),
      token: message.token,
      message,
      status: fault === 'silence' ? 'none' : fault?.status ?? 200
    }
    seen.push(sendRequest)
    listener(sendRequest)
    if (fault === 'silence') return
    if (!fault) return reply(response, 200, { name: `projects/${PROJECT}/messages/${seen.length}` })
    if (fault.retryAfter !== undefined) response.setHeader('retry-after', fault.retryAfter)
    reply(response, fault.status, errorBody(fault.status, fault.code ?? '', fault.field))
  }

  return {
    url,
    file,
    /** All requests to send, oldest first. */
    seen,
    /** The messages that a device received. */
    sentTo: (token: string) =>
      seen.filter((each) => each.token === token && each.status === 200).map((each) => each.message),
    exchanges: () => exchanges,
    /** Calls the listener for each request to send. */
    onSend (call: typeof listener) {
      listener = call
    },
    /**
     * Sets the response to each message from now on; undefined is 200. `attempt` counts the requests for one message
     * and token from 1.
     */
    respondWith (decide: typeof responseTo) {
      responseTo = decide
    },
    /** Revokes all access tokens. */
    revoke () {
      tokens.clear()
    },
    async close () {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true, force: true })
    }
  }
}

function errorBody (code: number, errorCode: string, field?: string) {
  return {
    error: {
      code,
      message: 'rejected',
      status: code === 404 ? 'NOT_FOUND' : errorCode,
      details: [
        { '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode },
        ...field ? [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field }] }] : []
      ]
    }
  }
}

function reply (response: ServerResponse, status: number, body: object) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
