import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'

interface Demo {
  password: string
  people: { name: string, email: string }[]
}

/** The accounts of `npm run demo`, and an access token of each. */
export function serveAccounts (app: FastifyInstance, { dataDir, api }: { dataDir: string, api: () => string }) {
  const readDemo = (): Demo => {
    const file = path.join(dataDir, 'demo.json')
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) as Demo : { password: '', people: [] }
  }

  app.get('/api/accounts', () => {
    const { password, people } = readDemo()
    return people.map((person) => ({ ...person, password }))
  })

  app.post<{ Body: { email: string } }>('/api/accounts/token', async ({ body }, reply) => {
    const response = await fetch(`${api()}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: body.email, password: readDemo().password, deviceName: 'Developer page' })
    })
    return reply.code(response.status).send(await response.json())
  })
}
