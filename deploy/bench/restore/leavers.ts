import { setTimeout as sleep } from 'node:timers/promises'
import { becomeMember, call } from '../people.ts'
import type { Stack } from '../stack.ts'
import { readTraces } from '../traces.ts'
import type { Database } from './postgres.ts'

// What names an account by its id on purpose; and the mail with the receipt, which stays for an hour.
const stubs = new Set(['departures', 'outbox', 'erasures', 'accounts', 'reserved_usernames', 'mails'])
const TIMEOUT_S = 60

export type Leaver = Awaited<ReturnType<typeof prepareLeaver>>

/** Somebody who posts and follows, and whose account is erased after a backup. */
export async function prepareLeaver (
  stack: Stack,
  database: Database,
  { name, follows }: Record<'name' | 'follows', string>
) {
  const email = `${name}@example.com`
  const { accessToken: token, password } = await becomeMember(stack, email)
  await call(stack, 'POST', '/feed', { token, body: { type: 'TEXT', content: `${name} was here` } })
  await call(stack, 'POST', `/users/${follows}/follow`, { token })
  const { user: { id } } = await call<{ user: { id: string } }>(stack, 'GET', '/auth/me', { token })
  const rowsIn = async (schemas: readonly string[]) =>
    await database.withClient(async (client) =>
      [...(await readTraces(client, { traces: [id, email], without: [] })).keys()].filter((table) => {
        const [schema = '', name = ''] = table.split('.')
        return schemas.includes(schema) && !stubs.has(name)
      })
    )
  return {
    rowsIn,
    async erase (stack: Stack) {
      const body = { purpose: 'DELETE', password }
      const { data: { proof } } = await call<{ data: { proof: string } }>(stack, 'POST', '/account/proof', {
        token,
        body
      })
      await call(stack, 'POST', '/account/deletion', { token, body: { proof } })
      await database.withClient(async (client) =>
        await client.query('update identity.erasures set erase_at = now() where account_id = $1', [id])
      )
      await this.waitUntilGone(['identity'])
    },
    /** Whether a service knows already that the account is to be erased. */
    isBuriedIn: async (service: string) =>
      await database.withClient(async (client) => {
        const { rowCount } = await client.query(`select from ${service}.departures where account_id = $1`, [id])
        return rowCount === 1
      }),
    /** @returns the tables that still name the account after a minute */
    async waitUntilGone (schemas: readonly string[]) {
      for (let waited = 0;; waited++) {
        const left = await rowsIn(schemas)
        if (left.length === 0 || waited === TIMEOUT_S) return left
        await sleep(1_000)
      }
    }
  }
}
