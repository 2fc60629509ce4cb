import { setTimeout as sleep } from 'node:timers/promises'
import { meet, settle, type Person } from '../kit/settled-people.ts'
import { call } from '../kit/call.ts'
import { pictureForm, plainPng } from '../kit/pictures.ts'
import type { Stack } from '../kit/stack.ts'
import { readTraces } from '../kit/traces.ts'
import { upload } from '../kit/upload.ts'
import type { Database } from './postgres.ts'

// What names an account by its id on purpose; and the mail with the receipt, which stays for an hour.
const stubs = new Set(['departures', 'outbox', 'erasures', 'accounts', 'reserved_usernames', 'mails'])
const TIMEOUT_S = 60

export type ErasedPerson = Awaited<ReturnType<typeof prepareErased>>

/** Somebody with rows in every service, who knows `friend`, and whose account is erased after a backup. */
export async function prepareErased (
  stack: Stack,
  database: Database,
  { name, follows, friend }: { name: string, follows: string, friend: Person }
) {
  const person = await settle(stack, name)
  const { id, email, password, token, send } = person
  await send('POST', `/users/${follows}/follow`)
  await meet(person, friend)
  const picture = await plainPng({ width: 400, height: 400, bits: 8 })
  await upload(stack, '/fitmatch/photos', pictureForm(picture), { token })
  await upload(stack, '/fitmatch/verification', pictureForm(picture, 'photo'), { token })

  const rowsIn = async (schemas: readonly string[]) =>
    await database.withClient(async (client) =>
      [...(await readTraces(client, { traces: [id, email], without: [] })).keys()].filter((table) => {
        const [schema = '', name = ''] = table.split('.')
        return schemas.includes(schema) && !stubs.has(name)
      })
    )
  return {
    id,
    rowsIn,
    /** The tables that hold rows of a backup that name the account, at the moment at which a promise resolves. */
    rowsOfBackup: async (tables: string[], xmin: string, moment: Promise<void>) =>
      await database.withClient(async (client) => {
        await moment
        const { rows } = await client.query<{ name: string }>(
          tables.map((name) =>
            `select '${name}' as name from ${name} live where xmin = $1::xid and to_jsonb(live)::text ~ $2 group by 1`
          ).join(' union all '),
          [xmin, `${id}|${email}`]
        )
        return rows.map(({ name }) => name)
      }),
    /** Lets the next sweep of what late events brought back be due, a minute early. */
    moveClock: async (service: string) =>
      await database.withClient(async (client) => {
        await client.query(`update ${service}.departures set next_pass_at = now() where account_id = $1`, [id])
      }),
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
    /** The response to the right password. */
    async signIn (stack: Stack) {
      return await call(stack, 'POST', '/auth/login', { body: { email, password } })
        .then(() => 200, (error: Error) => error.cause)
    },
    /** Whether a service knows already that the account is to be erased. */
    hasTombstoneIn: async (service: string) =>
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
