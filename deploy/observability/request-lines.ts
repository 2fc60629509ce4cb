import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Test } from 'tap'
import type { Stack } from '@tandem/rehearsals/kit/stack.ts'
import { until } from '@tandem/test-kit'

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

/**
 * Two people, the first of them follows and mentions the other: every line of both requests has one trace, its request
 * id and its account, in all processes.
 */
export async function verifyLines (t: Test, { gateway }: Stack, dataDir: string) {
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
}
