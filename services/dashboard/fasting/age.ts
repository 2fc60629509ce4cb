import type { CallRpc } from '@tandem/bus-kit'
import { DEFAULT_TIMEZONE, Person } from '@tandem/contracts'
import { dayIn } from '@tandem/account-kit'
import { AgeRestricted, AgeUnknown } from '../errors.ts'

interface AgeDeps {
  callRpc: CallRpc
  minAge: number
  now: () => Date
}

/**
 * Checks the birth date of the profile, in the person's own time zone.
 * @throws AgeRestricted, AgeUnknown, or Unavailable while profile is unavailable
 */
export async function checkAge ({ callRpc, minAge, now }: AgeDeps, accountId: string) {
  if (minAge === 0) return
  const person = await callRpc(Person, { accountId })
  const birthDate = person?.profile.birthDate
  if (!birthDate) throw new AgeUnknown()
  const today = dayIn(person?.profile.timezone ?? DEFAULT_TIMEZONE, now())
  const age = Temporal.PlainDate.from(birthDate.slice(0, 10)).until(today, { largestUnit: 'years' }).years
  if (age < minAge) throw new AgeRestricted({ minAge })
}
