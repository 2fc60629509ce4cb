import type { IncomingMessage, ServerResponse } from 'node:http'
import websocket, { type WebSocket, type WebsocketPluginOptions } from '@fastify/websocket'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { REALTIME_PROTOCOL } from '@tandem/contracts/realtime'
import { BASE_PATH } from '../routes.ts'
import { CLOSE_TIMEOUT_MS } from './transports.ts'

export const REALTIME_PATH = `${BASE_PATH}/realtime`
const MAX_FRAME_BYTES = 4 * 1024
const TOKEN_PROTOCOL = /^bearer\.([\w-]+\.[\w-]+\.[\w-]+)$/

/** Only a WebSocket at this path is upgraded. Any other upgrade, such as h2c, stays an ordinary request. */
export const isRealtimeUpgrade = ({ method, url, headers }: IncomingMessage) =>
  method === 'GET' && url?.split('?', 1)[0] === REALTIME_PATH && headers.upgrade?.toLowerCase() === 'websocket'

const protocolsOf = ({ headers }: Pick<FastifyRequest, 'headers'>) =>
  (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim())

export const offersProtocol = (request: FastifyRequest) => protocolsOf(request).includes(REALTIME_PROTOCOL)

/** A page of a browser cannot set headers of a WebSocket, so it offers its token as a subprotocol. */
export const findTokenProtocol = (request: FastifyRequest) =>
  isRealtimeUpgrade(request.raw)
    ? protocolsOf(request).map((each) => TOKEN_PROTOCOL.exec(each)?.[1]).find((each) => each !== undefined)
    : undefined

/** Registers @fastify/websocket for the routes of `scope`. `preClose` closes their sockets. */
export async function acceptWebSockets (scope: FastifyInstance, { preClose }: { preClose: () => Promise<void> }) {
  // The types do not know closeTimeout yet.
  const options: WebsocketPluginOptions['options'] & { closeTimeout: number } = {
    clientTracking: false,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    closeTimeout: CLOSE_TIMEOUT_MS,
    autoPong: false,
    handleProtocols: () => REALTIME_PROTOCOL
  }
  await scope.register(websocket, { options, preClose })

  // The library closes the socket of a refused upgrade only if its own hook saw the request. Authentication and the
  // refusal of overload run before that hook, and their clients could hold such sockets for ever.
  scope.addHook('onSend', (request, reply, _payload, done) => {
    if (isRealtimeUpgrade(request.raw)) reply.header('connection', 'close')
    done()
  })
  scope.addHook('onResponse', (request, _reply, done) => {
    if (isRealtimeUpgrade(request.raw)) request.raw.socket.destroy()
    done()
  })
}

/**
 * Separates an upgraded socket from its request, which the response and the library's listener would keep: 7 KiB for as
 * long as the connection lives. `ws` itself closes a socket with the code of the error.
 */
export function releaseRequest (socket: WebSocket, response: ServerResponse) {
  if (response.socket) response.detachSocket(response.socket)
  socket.removeAllListeners('error').on('error', () => {})
}
