import { answer } from '@tandem/bus-kit'
import { SigningKeys } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { listPublicKeys } from './queries.ts'

export const answerSigningKeys = ({ db }: Deps) => answer(SigningKeys, async () => await listPublicKeys(db))
