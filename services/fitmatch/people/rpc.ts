import { handleRpc } from '@tandem/bus-kit'
import { Tier } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { findSubscribedUntil } from './queries.ts'

export const handleTier = ({ db }: Deps) =>
  handleRpc(Tier, async ({ accountId }) => {
    const until = await findSubscribedUntil(db, accountId)
    return { subscribedUntil: until?.toISOString() ?? null }
  })
