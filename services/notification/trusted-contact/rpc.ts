import { handleRpc } from '@tandem/bus-kit'
import { TrustedContactStatus } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { findContact } from './queries.ts'

export const handleTrustedContactStatus = ({ db }: Deps) =>
  handleRpc(TrustedContactStatus, async ({ accountId }) => (await findContact(db, accountId))?.status ?? 'NONE')
