import { clientFrames, type ClientFrameType } from '@tandem/contracts/realtime'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { WebSocket, type RawData } from 'ws'
import { close, focusOn, hearFrom, renew, send, terminate, type Connection } from './connection.ts'
import { connectionsGauge } from './metrics.ts'
import { watch } from './presence.ts'
import { sinceStart } from './times.ts'

const MAX_FRAMES = 20
const WINDOW_MS = 10_000

const validators = new Map(Object.entries(clientFrames).map(([type, { data }]) => [type, Compile(data as TSchema)]))

const isClientFrameType = (type: unknown): type is ClientFrameType =>
  typeof type === 'string' && Object.hasOwn(clientFrames, type)

/** A WebSocket that knows its connection, so that all have the same listeners: own ones would take 150 bytes more. */
export class ClientSocket extends WebSocket {
  connection!: Connection
  frames = 0
  windowEndsAt = 0
}

/** Handles the frames that a client sends over its WebSocket. */
export function handleClientFrames (socket: ClientSocket, connection: Connection) {
  socket.connection = connection
  socket.on('error', ignore).on('close', handleClose).on('message', handleMessage)
}

const ignore = () => {}

// The types of the library do not know that it calls listeners with the subclass.
const asClientSocket = (socket: WebSocket) => socket as ClientSocket

function handleClose (this: WebSocket) {
  connectionsGauge.dec({ transport: 'websocket' })
  terminate(asClientSocket(this).connection, 'client')
}

function handleMessage (this: WebSocket, message: RawData, isBinary: boolean) {
  const socket = asClientSocket(this)
  const { connection } = socket
  const now = sinceStart()
  if (now > socket.windowEndsAt) {
    socket.windowEndsAt = now + WINDOW_MS
    socket.frames = 0
  }
  if (++socket.frames > MAX_FRAMES) return close(connection, 4429)
  if (isBinary) return close(connection, 1003)
  hearFrom(connection)
  const frame = parse(String(message as Buffer))
  if (!frame) return close(connection, 4400)
  handle(connection, frame)
}

function handle (connection: Connection, { type, data }: { type: unknown, data: unknown }) {
  // Later versions of clients may send more.
  if (!isClientFrameType(type)) {
    const error = 'The server does not know this type of frame'
    return send(connection, 'error', { code: 'UNKNOWN_FRAME', error })
  }
  if (!validators.get(type)?.Check(data)) return close(connection, 4400)
  switch (type) {
    case 'ping':
      return send(connection, 'pong')
    case 'pong':
      return
    case 'focus':
      return focusOn(connection, (data as { matchId: string | null }).matchId)
    case 'watch':
      return watch(connection, (data as { matchIds: string[] }).matchIds)
    case 'auth':
      connection.shared.verifyAccessToken((data as { accessToken: string }).accessToken).then(
        (renewed) => renew(connection, renewed),
        ({ code }: { code?: string }) => {
          if (code === 'SERVICE_UNAVAILABLE') send(connection, 'error', { code, error: 'Send the token again' })
          else close(connection, 4401)
        }
      )
  }
}

function parse (text: string) {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('type' in value)) return
    const { type, data = {} } = value as { type: unknown, data?: unknown }
    return { type, data }
  } catch {
    return undefined
  }
}
