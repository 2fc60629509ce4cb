import { answer } from '@tandem/bus-kit'
import { SigningKeys } from '@tandem/contracts'
import type { Deps } from '../deps.ts'

export const answerSigningKeys = ({ signKeySet }: Deps) => answer(SigningKeys, signKeySet)
