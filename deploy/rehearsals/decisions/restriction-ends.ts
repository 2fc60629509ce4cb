import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { call } from '../kit/call.ts'
import { codeOf } from '../moderation-day/sides.ts'
import type { Stack } from '../kit/stack.ts'
import type { Author, Community } from './decision-cases.ts'

/** A request that is refused until a restriction ends. */
interface Probe {
  name: string
  until: number
  send: () => Promise<unknown>
}

export interface MeasuredEnd {
  name: string
  /** How often it was refused before. */
  refusals: number
  /** Negative if it was accepted too early. */
  lateMs: number
}

const LEAD_MS = 2_000
const POLL_INTERVAL_MS = 50
const MAX_LATE_MS = 90_000

/** Sends a request again and again around the end of its restriction, until it is accepted. */
async function measureEnd ({ name, until, send }: Probe): Promise<MeasuredEnd> {
  await sleep(Math.max(0, until - LEAD_MS - Date.now()))
  for (let refusals = 0;; refusals++) {
    const code = await codeOf(send())
    const lateMs = Date.now() - until
    if (code === 'OK' || lateMs > MAX_LATE_MS) return { name, refusals, lateMs }
    await sleep(POLL_INTERVAL_MS)
  }
}

export const scopeOf = ({ cases }: Author, scope: string) =>
  cases.some(({ actions }) => actions.some((action) => action.scope === scope))

/**
 * Makes every restriction end, the first one at `firstAt`. Only the clock is moved for it: a restriction lasts a day at
 * least. @returns the end for each person
 */
export async function moveEnds (database: pg.Pool, authors: Author[], firstAt: number) {
  const restricted = authors.filter(({ cases }) => cases.some(({ actions }) => actions.some(({ scope }) => scope)))
  const ends = new Map<Author, number>()
  for (const [index, author] of restricted.entries()) {
    // Not all at the same part of a second.
    const end = firstAt + index * 1_130
    ends.set(author, end)
    for (
      const update of [
        'identity.restrictions set until = $2 where account_id = $1',
        'identity.accounts set restricted_until = $2 where id = $1 and restricted_until is not null',
        'social.posting_restrictions set restricted_until = $2 where account_id = $1 and restricted_until is not null',
        'fitmatch.members set suspended_until = $2 where account_id = $1 and suspended_until is not null'
      ]
    ) await database.query(`update ${update}`, [author.id, new Date(end)])
  }
  return ends
}

/** Measures how late each restriction ends, for the person and for others. */
export async function measureEnds (ends: Map<Author, number>, reader: Community['reader']) {
  const probes = [...ends].flatMap(([author, until]): Probe[] => [
    ...(scopeOf(author, 'POSTING')
      ? [{ name: 'POSTING', until, send: () => author.send('POST', '/feed', { type: 'TEXT', content: 'Back again' }) }]
      : []),
    ...(scopeOf(author, 'FITMATCH')
      ? [{ name: 'FITMATCH', until, send: () => author.send('GET', '/fitmatch/matches') }]
      : []),
    ...(scopeOf(author, 'ALL')
      ? [
        { name: 'ALL', until, send: () => author.send('GET', '/feed') },
        { name: 'ALL, seen by others', until, send: () => reader.send('GET', `/users/${author.id}`) }
      ]
      : [])
  ])
  return await Promise.all(probes.map(measureEnd))
}

/** The same person with a new session: a restriction of everything ends the others. */
export async function signInAgain (stack: Stack, author: Author): Promise<Author> {
  const { accessToken: token } = await call<{ accessToken: string }>(stack, 'POST', '/auth/login', {
    body: { email: author.email, password: author.password }
  })
  return {
    ...author,
    token,
    send: async (method, route, body) => await call(stack, method, route, { token, ...(body && { body }) })
  }
}
