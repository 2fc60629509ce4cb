import { execFile } from 'node:child_process'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { WebSocketServer } from 'ws'
import { bundleForReactNative } from './react-native/bundle.ts'

const sdk = path.resolve(import.meta.dirname, '../../packages/sdk-typescript/index.ts')

async function readBody (request: IncomingMessage) {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

t.test('the SDK works with the URL, fetch, FormData and WebSocket of React Native', async (t) => {
  const seen: string[] = []
  const answers: Record<string, object> = {
    '/auth/login': { success: true, accessToken: 'old', refreshToken: 'r1', user: {} },
    '/auth/refresh': { success: true, accessToken: 'new', refreshToken: 'r2', expiresIn: 900 },
    '/feed': { success: true, data: { posts: [{ id: 'p1' }], nextCursor: null } },
    '/media': { success: true, data: { media: {} } }
  }
  const http = createServer((request, response) => {
    void readBody(request).then((body) => {
      const url = String(request.url).replace('/api/mobile/v1', '')
      seen.push(`${request.method} ${url}`)
      if (url === '/media') seen.push(body)
      // The home screen never comes: the app aborts it.
      if (url === '/dashboard/home') return
      const isExpired = request.headers.authorization === 'Bearer old'
      const answer = isExpired
        ? { success: false, error: 'Expired', code: 'INVALID_ACCESS_TOKEN' }
        : answers[url.split('?')[0] ?? '']
      response.writeHead(isExpired ? 401 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    })
  })
  const sockets = new WebSocketServer({ server: http, handleProtocols: () => 'tandem.v1' })
  let connections = 0
  sockets.on('connection', (socket, { url, headers }) => {
    seen.push(`${url?.replace('/api/mobile/v1', '')} ${headers['sec-websocket-protocol']}`)
    const isFirst = ++connections === 1
    const send = (type: string, data: object, id?: string) =>
      socket.send(JSON.stringify({ type, at: new Date().toISOString(), data, ...id !== undefined && { id } }))
    const expiresAt = new Date(Date.now() + 900_000).toISOString()
    send('hello', {
      connectionId: 'c',
      position: 'e-4',
      resumed: !isFirst,
      unreadCount: 0,
      heartbeatSeconds: 30,
      expiresAt
    })
    socket.on('message', (frame: Buffer) => {
      if (frame.toString().includes('"watch"')) send('chat.typing', { matchId: 'm1', isTyping: isFirst })
    })
  })
  http.listen(0, '127.0.0.1')
  await new Promise((resolve) => http.once('listening', resolve))
  t.teardown(() => {
    sockets.close()
    http.close().closeAllConnections()
  })

  const bundle = await bundleForReactNative(path.join(import.meta.dirname, 'react-native/program.js'), sdk)
  t.teardown(() => rmSync(bundle))
  const env = { ...process.env, TANDEM_URL: `http://127.0.0.1:${(http.address() as AddressInfo).port}` }
  const { stdout } = await promisify(execFile)(process.execPath, [bundle], { env })
  t.same(stdout.trim().split('\n'), [
    'URL of React Native',
    'feed 1',
    'aborted ABORTED',
    'chat.typing true',
    'chat.typing false',
    'connections 2'
  ])
  t.equal(seen.filter((each) => each === 'POST /auth/refresh').length, 1)
  t.ok(seen.includes('GET /feed?limit=1&hashtag=a%20b%26c'), 'a query is encoded')
  t.ok(seen.some((each) => each.includes('name="file"\r\n\r\nthe bytes of file:///photo.jpg')), 'a file is sent')
  t.same(seen.filter((each) => each.startsWith('/realtime')), [
    '/realtime tandem.v1,bearer.new',
    '/realtime?after=e-4 tandem.v1,bearer.new'
  ])
})
