import { handleRpc } from '@tandem/bus-kit'
import { SigningKeys } from '@tandem/contracts'
import type { Deps } from '../deps.ts'

export const handleSigningKeys = ({ signKeySet }: Deps) => handleRpc(SigningKeys, signKeySet)
