import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

const WRITERS = 4
const PAUSE_MS = 80
const RETRY_PAUSE_MS = 200

interface Registered {
  accessToken: string
  user: { id: string, profile: { username: string } }
}

interface Failure {
  at: number
  what: string
}

/** People who write posts that mention one reader. A failed request is repeated with the same Idempotency-Key. */
export async function createLoad (gateways: string[]) {
  const failures: Failure[] = []
  const acknowledged: string[] = []
  const durations: number[] = []
  let turn = 0
  let isRunning = false
  let writing: Promise<unknown> = Promise.resolve()

  async function send<Body> (method: string, route: string, token?: string, body?: object, key?: string) {
    const response = await fetch(`${gateways[turn++ % gateways.length]}${route}`, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
        ...(key && { 'idempotency-key': key })
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000)
    })
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
    return await response.json() as Body
  }
  const register = async (name: string) => {
    const { accessToken } = await send<Registered>('POST', '/auth/register', undefined, {
      email: `${name}@example.com`,
      password: 'Correct-horse-7'
    })
    const { user } = await send<Registered>('GET', '/auth/me', accessToken)
    return { accessToken, accountId: user.id, username: user.profile.username }
  }
  const reader = await register('reader')
  const writers = await Promise.all(
    Array.from({ length: WRITERS }, async (_, index) => await register(`writer${index}`))
  )

  async function write (index: number) {
    for (let number = 0; isRunning; number++, await sleep(PAUSE_MS)) {
      const content = `${index}.${number} with @${reader.username}`
      const key = randomUUID()
      for (let isDone = false; !isDone;) {
        const since = Date.now()
        try {
          await send('POST', '/feed', writers[index]?.accessToken, { type: 'TEXT', content }, key)
          isDone = true
          acknowledged.push(content)
          durations.push(Date.now() - since)
        } catch (error) {
          failures.push({ at: Date.now(), what: String((error as Error).message).slice(0, 80) })
          await sleep(RETRY_PAUSE_MS)
        }
      }
    }
  }

  return {
    reader,
    failures,
    acknowledged,
    durations,
    start () {
      isRunning = true
      writing = Promise.all(writers.map(async (_, index) => await write(index)))
    },
    async stop () {
      isRunning = false
      await writing
    }
  }
}
