import type { FastifyInstance } from 'fastify'

/** Something the service needs. `required`: without it the service is not ready; else it is only named. */
export interface Check {
  check: () => Promise<unknown>
  required: boolean
}
export type Checks = Record<string, Check>

const patience = 1_000
const fresh = 1_000

async function isDown (check: () => Promise<unknown>) {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => { timer = setTimeout(resolve, patience, true) })
  try {
    return await Promise.race([check().then((answer) => answer === false), late])
  } catch {
    return true
  } finally {
    clearTimeout(timer)
  }
}

/**
 * GET /health/live (the process answers) and GET /health/ready (`{ status, down }`): 503 while a required check fails or the server
 * closes. Each check has a second, and is asked at most once a second.
 */
export async function serveHealth (app: FastifyInstance, { checks }: { checks: Checks }) {
  let closing = false
  let asked = 0
  let answer: Promise<string[]> | undefined

  function findDown () {
    if (!answer || Date.now() - asked > fresh) {
      asked = Date.now()
      answer = Promise.all(Object.entries(checks).map(async ([name, { check }]) => await isDown(async () => await check()) ? [name] : []))
        .then((names) => names.flat())
    }
    return answer
  }

  app.addHook('preClose', async () => { closing = true })

  const options = {
    schema: { hide: true },
    config: { public: true, logged: false, pressureHandler: () => {} }
  }
  app.get('/health/live', options, async () => ({ status: 'live' }))
  app.get('/health/ready', options, async (_request, reply) => {
    const down = await findDown()
    const ready = !closing && !down.some((name) => checks[name]?.required)
    return reply.code(ready ? 200 : 503).send({ status: closing ? 'closing' : ready ? 'ready' : 'not ready', down })
  })
}
