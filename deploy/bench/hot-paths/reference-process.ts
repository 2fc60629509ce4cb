// What the hot paths are compared with: the least that a request of their kind costs in Node. It is started with the
// addresses of a Postgres and of the server that it forwards to, and reports its port.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import argon2 from 'argon2'
import pg from 'pg'
import { Pool } from 'undici'

const [connectionString = '', upstream = ''] = process.argv.slice(2)
// As many connections as a service has.
const database = new pg.Pool({ connectionString, max: 5 })
database.on('error', () => {})
await database.query(`
  create schema reference;
  create table reference.posts (
    id uuid primary key default uuidv7(),
    author_id uuid not null,
    content text not null,
    likes_count integer not null default 0,
    created_at timestamptz not null default now()
  );
  insert into reference.posts (author_id, content) select gen_random_uuid(), 'A run' from generate_series(1, 20)`)
const proxied = new Pool(upstream, { connections: 32, pipelining: 1 })
const password = 'Correct-horse-7'
// The settings of identity.
const hash = await argon2.hash(password, { type: argon2.argon2id, memoryCost: 12_288, timeCost: 3, parallelism: 1 })

const handlers: Record<string, (request: IncomingMessage) => Promise<string>> = {
  '/text': async () => JSON.stringify({ success: true }),
  async '/page' () {
    const { rows } = await database.query({
      name: 'page',
      text: 'select id, author_id, content, likes_count, created_at from reference.posts order by id desc limit 20'
    })
    return JSON.stringify(rows)
  },
  async '/row' (request) {
    const { authorId, content } = JSON.parse(await text(request)) as { authorId: string, content: string }
    const { rows } = await database.query({
      name: 'row',
      text: 'insert into reference.posts (author_id, content) values ($1, $2) returning id',
      values: [authorId, content]
    })
    return JSON.stringify(rows[0])
  },
  '/hash': async () => JSON.stringify(await argon2.verify(hash, password)),
  async '/forward' ({ headers: { authorization = '' } }) {
    const { body } = await proxied.request({ method: 'GET', path: '/auth/sessions', headers: { authorization } })
    return await body.text()
  }
}

const server = createServer((request, response) => {
  const handle = handlers[request.url ?? '']
  if (!handle) return void response.writeHead(404).end()
  handle(request).then(
    (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    (error: unknown) => response.writeHead(500).end(String(error))
  )
}).listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())
