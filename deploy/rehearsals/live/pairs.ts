import { Client } from 'pg'
import { call } from '../kit/call.ts'
import { becomeMember } from '../kit/people.ts'
import type { Stack } from '../kit/stack.ts'
import { accountOf } from './processes.ts'

export interface Writer {
  token: string
  accountId: string
  matchId: string
}

/** Creates people who are matched in pairs; two that follow each other are a pair. */
export async function createPairs (stack: Stack, pairs: number): Promise<Writer[]> {
  const tokens: string[] = []
  let next = 0
  await Promise.all(Array.from({ length: 4 }, async () => {
    while (next < pairs * 2) {
      const number = next++
      tokens[number] = (await becomeMember(stack, `writer${number}@example.com`)).accessToken
    }
  }))
  const accountIds = tokens.map(accountOf)
  const client = new Client({ connectionString: stack.postgres.url })
  await client.connect()
  try {
    await client.query(
      `insert into fitmatch.members (account_id) select unnest($1::uuid[]) on conflict do nothing`,
      [accountIds]
    )
    await client.query(
      `insert into fitmatch.profiles (account_id, display_name, has_custom_name, looking_for, interested_in, fitness_goals,
         preferred_times, workout_days, age_min, age_max, max_distance, prompts, suspended, trait_bits, sport_bits)
       select unnest($1::uuid[]), 'Writer', true, '{}', '{}', '{}', '{}', '{}', 18, 99, 50, '[]', false, 0, 0::bit(128)`,
      [accountIds]
    )
    const matchIds = new Map<string, string>()
    const matches = await client.query<{ id: string, low: string, high: string }>(
      `insert into fitmatch.matches (low_id, high_id, match_type)
       select least(a, b), greatest(a, b), 'LIKE' from unnest($1::uuid[], $2::uuid[]) as pair (a, b)
       returning id, low_id as low, high_id as high`,
      [accountIds.filter((_, number) => number % 2 === 0), accountIds.filter((_, number) => number % 2 === 1)]
    )
    for (const { id, low, high } of matches.rows) matchIds.set(low, id).set(high, id)
    return tokens.map((token, number) => ({
      token,
      accountId: accountIds[number]!,
      matchId: matchIds.get(accountIds[number]!)!
    }))
  } finally {
    await client.end()
  }
}

interface Sent {
  data: { message: { id: string, createdAt: string } }
}

/** Sends a message. @returns its id and the time of its commit */
export async function sendMessage (stack: Stack, { token, matchId }: Writer, content: string) {
  const { data: { message } } = await call<Sent>(stack, 'POST', `/fitmatch/chat/${matchId}/messages`, {
    token,
    body: { content, clientMessageId: content }
  })
  return message
}
