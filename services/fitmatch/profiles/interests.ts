import type { CallRpc } from '@tandem/bus-kit'
import { OfferedOptions } from '@tandem/contracts'
import { ValidationError } from '@tandem/http-kit'

/**
 * Checks interests against the options that the profile service offers. An interest that is no longer offered stays
 * valid for a profile that has it.
 * @throws ValidationError, Unavailable
 */
export async function checkInterests (callRpc: CallRpc, chosen: string[] = [], known: string[] = []) {
  const optionIds = [...new Set(chosen)].filter((id) => !known.includes(id))
  if (optionIds.length === 0) return
  const offered = await callRpc(OfferedOptions, { type: 'fitmatch_interest', optionIds })
  if (!optionIds.every((id) => offered.includes(id))) {
    throw new ValidationError('interestedInContainsUnknownOption', ['interestedIn'])
  }
}
