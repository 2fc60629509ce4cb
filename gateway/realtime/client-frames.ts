import { clientFrames, type ClientFrameType } from '@tandem/contracts/realtime'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { WebSocket } from 'ws'
import { close, focusOn, hearFrom, renew, send, terminate, type Connection } from './connection.ts'
import { connectionsGauge } from './metrics.ts'
import { watch } from './presence.ts'
import { sinceStart } from './times.ts'

const MAX_FRAMES = 20
const WINDOW_MS = 10_000

const validators = new Map(Object.entries(clientFrames).map(([type, { data }]) => [type, Compile(data as TSchema)]))

const isClientFrameType = (type: unknown): type is ClientFrameType =>
  typeof type === 'string' && Object.hasOwn(clientFrames, type)

/** Handles the frames that a client sends over its WebSocket. */
export function handleClientFrames (socket: WebSocket, connection: Connection) {
  let frames = 0
  let windowEndsAt = 0
  function isWithinLimit () {
    const now = sinceStart()
    if (now > windowEndsAt) {
      windowEndsAt = now + WINDOW_MS
      frames = 0
    }
    if (++frames > MAX_FRAMES) close(connection, 4429)
    return frames <= MAX_FRAMES
  }
  socket.on('message', (message: Buffer, isBinary) => {
    if (isWithinLimit()) handleMessage(connection, message, isBinary)
  })
  // The pings of the protocol count as well: the pongs of a client that reads nothing would fill the memory.
  socket.on('ping', (data) => {
    if (isWithinLimit()) socket.pong(data)
  })
  socket.on('pong', isWithinLimit)
  socket.on('close', () => {
    connectionsGauge.dec({ transport: 'websocket' })
    terminate(connection, 'client')
  })
}

function handleMessage (connection: Connection, message: Buffer, isBinary: boolean) {
  if (isBinary) return close(connection, 1003)
  hearFrom(connection)
  const frame = parse(String(message))
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
