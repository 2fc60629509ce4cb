import { ServerResponse, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { REALTIME_PROTOCOL } from '@tandem/contracts/realtime'
import { WebSocketServer, type ServerOptions } from 'ws'
import { BASE_PATH } from '../routes.ts'
import { ClientSocket } from './client-frames.ts'

export const REALTIME_PATH = `${BASE_PATH}/realtime`
const MAX_FRAME_BYTES = 4 * 1024
const CLOSE_TIMEOUT_MS = 5_000
const TOKEN_PROTOCOL = /^bearer\.([\w-]+\.[\w-]+\.[\w-]+)$/

interface Upgrade {
  socket: Duplex
  head: Buffer
}

const ignore = () => {}

const upgrades = new WeakMap<IncomingMessage, Upgrade>()

export const isUpgrade = (request: IncomingMessage) => upgrades.has(request)

/** Only a WebSocket at this path is upgraded. Any other upgrade, such as h2c, stays an ordinary request. */
export const isRealtimeUpgrade = ({ method, url, headers }: IncomingMessage) =>
  method === 'GET' && url?.split('?', 1)[0] === REALTIME_PATH && headers.upgrade?.toLowerCase() === 'websocket'

const protocolsOf = ({ headers }: IncomingMessage) =>
  (headers['sec-websocket-protocol'] ?? '').split(',').map((each) => each.trim())

export const offersProtocol = (request: IncomingMessage) => protocolsOf(request).includes(REALTIME_PROTOCOL)

/**
 * Routes upgrades like other requests, so that they pass the same hooks, and a refusal is an ordinary response.
 * `accept` completes the handshake of a request that a route let through.
 */
export function routeUpgrades (app: FastifyInstance) {
  // The types do not know closeTimeout yet.
  const options: ServerOptions<typeof ClientSocket> & { closeTimeout: number } = {
    WebSocket: ClientSocket,
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    closeTimeout: CLOSE_TIMEOUT_MS,
    handleProtocols: () => REALTIME_PROTOCOL
  }
  const sockets = new WebSocketServer(options)

  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', ignore)
    // A page of a browser cannot set headers of a WebSocket.
    const token = protocolsOf(request).map((each) => TOKEN_PROTOCOL.exec(each)?.[1]).find((each) => each !== undefined)
    if (token !== undefined) request.headers.authorization ??= `Bearer ${token}`
    upgrades.set(request, { socket, head })
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket as never)
    response.on('finish', () => socket.end(() => socket.destroy()))
    app.routing(request, response)
  })

  return async function accept (request: IncomingMessage, response: ServerResponse): Promise<ClientSocket | undefined> {
    const upgrade = upgrades.get(request)
    upgrades.delete(request)
    if (!upgrade) return
    response.detachSocket(upgrade.socket as never)
    if (upgrade.socket.destroyed) return
    return await new Promise((resolve) => {
      // A handshake that is not valid is refused by the library, and the socket closes.
      const giveUp = () => resolve(undefined)
      upgrade.socket.once('close', giveUp)
      sockets.handleUpgrade(request, upgrade.socket, upgrade.head, (socket) => {
        // The listener would keep the request, and the buffer that it was read into, as long as the connection lives.
        // The library listens for errors from here on.
        upgrade.socket.off('close', giveUp).off('error', ignore)
        resolve(socket)
      })
    })
  }
}
