import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { signKeySet } from '@tandem/http-kit'
import { bearer, createRootKey, testKeys } from '@tandem/http-kit/testing'
import { createPublicKey, randomUUID } from 'node:crypto'

// Stands for every service: it publishes a signing key as identity does, and returns the same kilobyte to any other
// request. It is cheap, so that the proxies before it, and not it, use the processors.

const publicKey = await testKeys.find('test') ?? ''
const rootKey = createRootKey()
const keys = [{ ...createPublicKey(publicKey).export({ format: 'jwk' }), kid: 'test', alg: 'ES256', use: 'sig' }]
const page = Buffer.from(JSON.stringify({ success: true, data: { items: 'x'.repeat(960) } }))

const server = createServer({ keepAliveTimeout: 72_000 }, (request, response) => {
  const send = (body: unknown) => response.end(JSON.stringify(body))
  request.resume()
  response.setHeader('content-type', 'application/json; charset=utf-8')
  switch (request.url?.split('?', 1)[0]) {
    case '/internal/signing-keys':
      return void signKeySet(keys, Date.now(), rootKey.privateKey).then((signed) => send({ signed }))
    case '/internal/revoked-sessions':
      return send({ sessions: [], until: new Date().toISOString() })
    case '/health/ready':
      return send({ status: 'ready' })
  }
  response.setHeader('content-length', page.length).end(page)
})

export interface UpstreamInfo {
  port: number
  /** The public half of the root key. */
  rootKey: string
  /** The key that verifies the token, as PEM. */
  publicKey: string
  authorization: string
}

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  const { authorization } = bearer(randomUUID())
  process.send?.({ port, rootKey: rootKey.publicText, publicKey, authorization } satisfies UpstreamInfo)
})
process.on('disconnect', () => process.exit())
