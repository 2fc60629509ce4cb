import type { CallRpc } from '@tandem/bus-kit'
import { Person } from '@tandem/contracts'
import { dayIn } from '@tandem/account-kit'
import { ageOn } from '../calendar.ts'
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
  const profile = (await callRpc(Person, { accountId }))?.profile
  if (!profile?.birthDate) throw new AgeUnknown()
  if (ageOn(dayIn(profile.timezone, now()), profile.birthDate) < minAge) throw new AgeRestricted({ minAge })
}
