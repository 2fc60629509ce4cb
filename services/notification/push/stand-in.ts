import { generateKeyPairSync, randomBytes, verify } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import type { messageOf } from './fcm.ts'

type FcmMessage = ReturnType<typeof messageOf>

/** One request to send, as it came, and what was answered. */
export interface Seen { at: number, token: string, message: FcmMessage, status: number | 'none' }

/** What is to be answered instead of 200: a refusal, or no answer at all. */
export type Fault = { status: number, code?: string, retryAfter?: number, field?: string } | 'silence'

const PROJECT = 'tandem-test'
const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'

/**
 * Google as far as pushes need it: the exchange of a signed assertion for an access token, and FCM HTTP v1's messages:send.
 * It believes nothing: assertions are verified, access tokens must be its own and messages of FCM's shape.
 */
export async function startFcmStandIn (port = 0) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-fcm-'))
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const tokens = new Set<string>()
  const seen: Seen[] = []
  let fault: (message: FcmMessage, attempt: number) => Fault | undefined = () => undefined
  const attempts = new Map<string, number>()
  let exchanges = 0

  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const file = path.join(folder, 'service-account.json')
  await writeFile(file, JSON.stringify({
    type: 'service_account',
    project_id: PROJECT,
    client_email: `push@${PROJECT}.iam.gserviceaccount.com`,
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    private_key_id: 'one',
    token_uri: `${url}/token`
  }))

  async function answer (request: IncomingMessage, response: ServerResponse) {
    const body = await text(request)
    if (request.method === 'POST' && request.url === '/token') return exchange(body, response)
    if (request.method === 'POST' && request.url === `/v1/projects/${PROJECT}/messages:send`) return send(request, body, response)
    if (request.method === 'GET' && request.url === '/sent') return reply(response, 200, seen)
    reply(response, 404, refusal(404, 'NOT_FOUND'))
  }

  function exchange (body: string, response: ServerResponse) {
    exchanges++
    const form = new URLSearchParams(body)
    const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    const isSigned = verify('sha256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))
    const { aud, scope, exp } = isSigned ? JSON.parse(Buffer.from(claims, 'base64url').toString()) as { aud: string, scope: string, exp: number } : {}
    const isGood = form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer' && aud === `${url}/token` && scope === SCOPE && Number(exp) * 1_000 > Date.now()
    if (!isGood) return reply(response, 400, { error: 'invalid_grant', error_description: 'Invalid assertion' })
    const token = randomBytes(16).toString('hex')
    tokens.add(token)
    reply(response, 200, { access_token: token, expires_in: 3599, token_type: 'Bearer' })
  }

  function send (request: IncomingMessage, body: string, response: ServerResponse) {
    if (!tokens.has(request.headers.authorization?.replace('Bearer ', '') ?? '')) return reply(response, 401, refusal(401, 'UNAUTHENTICATED'))
    const { message } = JSON.parse(body) as { message: FcmMessage }
    const isGood = typeof message.token === 'string' && typeof message.notification.title === 'string' &&
      Object.values(message.data).every((value) => typeof value === 'string') && Buffer.byteLength(JSON.stringify({ ...message, token: '' })) <= 4_096
    if (!isGood) return reply(response, 400, refusal(400, 'INVALID_ARGUMENT', 'message'))

    const key = `${message.token} ${message.android.collapse_key}`
    const attempt = (attempts.get(key) ?? 0) + 1
    attempts.set(key, attempt)
    const wrong = fault(message, attempt)
    seen.push({ at: Date.now(), token: message.token, message, status: wrong === 'silence' ? 'none' : wrong?.status ?? 200 })
    if (wrong === 'silence') return
    if (!wrong) return reply(response, 200, { name: `projects/${PROJECT}/messages/${seen.length}` })
    if (wrong.retryAfter !== undefined) response.setHeader('retry-after', wrong.retryAfter)
    reply(response, wrong.status, refusal(wrong.status, wrong.code ?? '', wrong.field))
  }

  return {
    url,
    file,
    /** Every request to send, oldest first. */
    seen,
    /** What reached a device. */
    sentTo: (token: string) => seen.filter((each) => each.token === token && each.status === 200).map((each) => each.message),
    exchanges: () => exchanges,
    /** Decides what each message gets from now on; undefined is 200. `attempt` counts the sends of one message to one token from 1. */
    answerWith (decide: typeof fault) { fault = decide },
    /** No access token of before is good any more. */
    revoke () { tokens.clear() },
    async close () {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true, force: true })
    }
  }
}

function refusal (code: number, errorCode: string, field?: string) {
  return {
    error: {
      code,
      message: 'refused',
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

// `node services/notification/push/stand-in.ts [port]`: what to start Tandem with, and at GET /sent what was pushed.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { url, file, close } = await startFcmStandIn(Number(process.argv[2] ?? 0))
  console.log(`FCM_BASE_URL=${url} FCM_SERVICE_ACCOUNT_FILE=${file}`)
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void close().then(() => process.exit()))
}
