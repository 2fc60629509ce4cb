import { handleRpc } from '@tandem/bus-kit'
import { TrustedContactStatus } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { findContactStatus } from './eligibility.ts'

export const handleTrustedContactStatus = (deps: Deps) =>
  handleRpc(TrustedContactStatus, async ({ accountId }) => await findContactStatus(deps, accountId))
