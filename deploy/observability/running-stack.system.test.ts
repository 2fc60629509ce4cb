import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { call } from '@tandem/rehearsals/kit/call.ts'
import { becomeMember } from '@tandem/rehearsals/kit/people.ts'
import { sharedStack } from '@tandem/rehearsals/kit/shared-stack.ts'
import { freePort, until } from '@tandem/test-kit'
import t from 'tap'

const folder = import.meta.dirname
const read = async (file: string) => await readFile(path.join(folder, file), 'utf8')

/** The text of all alerts and dashboards. */
async function readRules () {
  const dashboards = (await readdir(path.join(folder, 'dashboards'))).map((file) => `dashboards/${file}`)
  return (await Promise.all(['alerts.yml', 'servers.yml', ...dashboards].map(read))).join('\n')
}

// The prefixes of what Tandem's own processes export.
const OWN =
  /\b(?:account|bus|cases|fitmatch|gateway|health|http|identity|mail|metrics|nodejs|notification|operator|postgres|process|queue|redis)_\w+\b(?=[{[\s)])/g
const PARTS_OF_HISTOGRAM = /_(bucket|count|sum)$/

t.test('a running system exports every metric that an alert or dashboard names', async (t) => {
  const { stack: { services, nats }, exportedAtStart } = await sharedStack()
  const port = await freePort()
  const streams = spawn(process.execPath, ['packages/bus-kit/streams-cli.ts', ...Object.keys(services)], {
    env: { ...process.env, NATS_URL: nats.url, METRICS_PORT: String(port) },
    stdio: 'ignore'
  })
  t.teardown(() => streams.kill('SIGKILL'))
  const ended = once(streams, 'exit')
  let exportedByStreams = ''
  await until(async () => {
    exportedByStreams = await fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text(), () => '')
    return /bus_stream_available\{.*\} 1/.test(exportedByStreams)
  })
  streams.kill()
  await ended

  const exported = `${exportedAtStart}\n${exportedByStreams}`
  const rules = await readRules()
  const named = new Set([...rules.matchAll(OWN)].map(([name]) => name))
  t.ok(named.size > 30, `${named.size} metrics are named`)
  const types = new Set([...exported.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
  const missing = [...named].filter((name) => !types.has(name) && !types.has(name.replace(PARTS_OF_HISTOGRAM, '')))
  t.strictSame(missing, [])

  // A rate needs a sample before the first event, so counters start at 0.
  const counters = [...named].filter((name) => name.endsWith('_total'))
  const empty = counters.filter((name) => !new RegExp(`^${name}(\\{.*\\})? \\d`, 'm').test(exported))
  t.strictSame(empty, [])
})

t.test('processes that run from bundles send mails, pushes and spans', async (t) => {
  const { stack, hasSpans } = await sharedStack()
  // Each gets a code by mail.
  const [cleo, dan] = await Promise.all(
    ['cleo', 'dan'].map(async (name) => await becomeMember(stack, `${name}@example.com`))
  )
  await call(stack, 'POST', '/notifications/push', {
    token: dan!.accessToken,
    body: { token: 'phone-of-dan', platform: 'android' }
  })
  const { data: { post } } = await call<{ data: { post: { id: string } } }>(stack, 'POST', '/feed', {
    token: dan!.accessToken,
    body: { type: 'TEXT', content: 'A run' }
  })
  await call(stack, 'POST', `/feed/${post.id}/comment`, { token: cleo!.accessToken, body: { content: 'Well run' } })

  await until(async () => {
    const pushes = await (await fetch(`${stack.devPage.url}/api/pushes`)).json() as { token: string }[]
    return pushes.some(({ token }) => token === 'phone-of-dan')
  })
  t.pass('the provider got the push')
  await until(hasSpans)
})

interface Line {
  name: string
  msg: string
  type?: string
  requestId?: string
  traceId?: string
  accountId?: string
  upstream?: string
}

// Each process writes its own log, so their last lines come in any order.
const LAST_LINES = ['gateway: request completed', 'social: request completed', 'notification: handled an event']

/** The lines of one request in the logs of all processes. */
async function readLines (dataDir: string, requestId: string) {
  const folder = path.join(dataDir, 'logs')
  const texts = await Promise.all(
    (await readdir(folder)).filter((file) => file.endsWith('.log')).map(async (file) =>
      await readFile(path.join(folder, file), 'utf8')
    )
  )
  return texts.join('\n').split('\n').filter((text) => text.startsWith('{') && text.includes(requestId)).map((text) =>
    JSON.parse(text) as Line
  )
}

// One follows and mentions the other.
t.test('every line of a request has one trace, its request id and its account, in all processes', async (t) => {
  const { stack: { gateway }, dataDir } = await sharedStack()
  const call = async (method: string, route: string, { token, body }: { token?: string, body?: object } = {}) => {
    const response = await fetch(`${gateway.url}/api/mobile/v1${route}`, {
      method,
      headers: {
        ...token && { authorization: `Bearer ${token}` },
        ...body && { 'content-type': 'application/json' }
      },
      ...body && { body: JSON.stringify(body) }
    })
    const text = await response.text()
    const requestId = response.headers.get('x-request-id') ?? ''
    t.ok(response.ok, `${method} ${route}: ${response.status}`)
    if (!response.ok) t.same(await readLines(dataDir, requestId), [], `nothing is logged about the response ${text}`)
    return {
      requestId,
      body: JSON.parse(text) as { accessToken: string, user: { id: string, profile: { username: string } } }
    }
  }
  const register = async (name: string) =>
    (await call('POST', '/auth/register', { body: { email: `${name}@example.com`, password: 'Correct-horse-7' } }))
      .body
  const [anton, bea] = [await register('anton'), await register('bea')]
  const { body: { user: { profile: { username } } } } = await call('GET', '/auth/me', { token: bea.accessToken })
  const requests = [
    await call('POST', `/users/${bea.user.id}/follow`, { token: anton.accessToken }),
    await call('POST', '/feed', { token: anton.accessToken, body: { type: 'TEXT', content: `Hello @${username}` } })
  ]
  for (const { requestId } of requests) {
    let lines: Line[] = []
    await until(async () => {
      lines = await readLines(dataDir, requestId)
      const found = lines.map(({ name, msg }) => `${name}: ${msg}`)
      return LAST_LINES.every((each) => found.includes(each))
    })
    const completed = lines.filter(({ msg }) => msg === 'request completed')
    t.strictSame(
      completed.map(({ name, accountId, upstream }) => ({ name, accountId, upstream })).sort((one, other) =>
        one.name.localeCompare(other.name)
      ),
      [
        { name: 'gateway', accountId: anton.user.id, upstream: 'social' },
        { name: 'social', accountId: anton.user.id, upstream: undefined }
      ]
    )
    t.strictSame([...new Set(lines.map((line) => line.requestId))], [requestId])
    t.strictSame([...new Set(lines.map(({ traceId }) => traceId))], [completed[0]?.traceId], 'one trace')
    t.match(completed[0]?.traceId, /^[0-9a-f]{32}$/)
  }
})
