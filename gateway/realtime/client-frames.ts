import type { FastifyInstance } from 'fastify'
import { clientFrames, type ClientFrameType } from '@tandem/contracts/realtime'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { RawData, WebSocket } from 'ws'
import type { Connection } from './connection.ts'

const MAX_FRAMES = 20
const WINDOW_MS = 10_000

const validators = new Map(Object.entries(clientFrames).map(([type, { data }]) => [type, Compile(data as TSchema)]))

const isClientFrameType = (type: unknown): type is ClientFrameType =>
  typeof type === 'string' && Object.hasOwn(clientFrames, type)

/** Handles the frames that a client sends over its WebSocket. */
export function handleClientFrames (app: FastifyInstance, socket: WebSocket, connection: Connection) {
  let windowEndsAt = 0
  let frames = 0

  socket.on('error', () => {})
  socket.on('close', () => connection.terminate('client'))
  socket.on('message', (message: RawData, isBinary: boolean) => {
    const now = Date.now()
    if (now > windowEndsAt) {
      windowEndsAt = now + WINDOW_MS
      frames = 0
    }
    if (++frames > MAX_FRAMES) return connection.close(4429)
    if (isBinary) return connection.close(1003)
    connection.hearFrom()
    const frame = parse(String(message as Buffer))
    if (!frame) return connection.close(4400)
    handle(frame)
  })

  function handle ({ type, data }: { type: unknown, data: unknown }) {
    // Later versions of clients may send more.
    if (!isClientFrameType(type)) {
      return connection.send('error', { code: 'UNKNOWN_FRAME', error: 'The server does not know this type of frame' })
    }
    if (!validators.get(type)?.Check(data)) return connection.close(4400)
    switch (type) {
      case 'ping':
        return connection.send('pong')
      case 'pong':
        return
      case 'focus':
        return connection.focusOn((data as { matchId: string | null }).matchId)
      case 'watch':
        return connection.watch((data as { matchIds: string[] }).matchIds)
      case 'auth':
        app.verifyAccessToken((data as { accessToken: string }).accessToken).then(
          connection.renew,
          ({ code }: { code?: string }) => {
            if (code === 'SERVICE_UNAVAILABLE') connection.send('error', { code, error: 'Send the token again' })
            else connection.close(4401)
          }
        )
    }
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
