import { sql } from 'kysely'
import type { Trx } from '../tables.ts'

const BITS = 128

/**
 * A person's sports as a string of 128 zeros and ones. A sport that is seen for the first time gets the next bit.
 * Sports come from the main profile, which takes them from a list, so 128 bits are enough; a sport beyond the 128th
 * would just not be scored.
 */
export async function sportBitsOf (trx: Trx, sports: string[]) {
  const bits = Array<string>(BITS).fill('0')
  const wanted = [...new Set(sports)]
  if (wanted.length === 0) return bits.join('')
  let known = await listBits(trx, wanted)
  if (known.length < wanted.length) {
    // Two concurrent transactions with a new sport must not take the same bit.
    await sql`select pg_advisory_xact_lock(hashtextextended(current_schema() || '.sports', 0))`.execute(trx)
    await sql`
      insert into sports (id, bit)
      select id, bit from (
        select id, row_number() over () - 1 + (select coalesce(max(bit) + 1, 0) from sports) as bit
        from unnest(${wanted}::text[]) as id where id not in (select id from sports)
      ) as new_sports where bit < ${BITS}
      on conflict do nothing`.execute(trx)
    known = await listBits(trx, wanted)
  }
  for (const { bit } of known) bits[bit] = '1'
  return bits.join('')
}

const listBits = async (trx: Trx, sports: string[]) =>
  await trx.selectFrom('sports').select('bit').where('id', 'in', sports).execute()
