import type { CallRpc } from '@tandem/bus-kit'
import { OfferedOptions } from '@tandem/contracts'
import { ValidationError } from '@tandem/http-kit'

/** @throws ValidationError unless `sport` is an onboarding option, or Unavailable */
export async function checkSport (callRpc: CallRpc, sport: string) {
  const offered = await callRpc(OfferedOptions, { type: 'sport', optionIds: [sport] })
  if (!offered.includes(sport)) {
    throw new ValidationError('sportIsNotOneOfSportsThatCan', ['sport'])
  }
}
