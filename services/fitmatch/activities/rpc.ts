import { handleRpc } from '@tandem/bus-kit'
import { ActivitySnapshot } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { findActivitySnapshot } from './queries.ts'

export const handleActivitySnapshot = ({ db, now }: Deps) =>
  handleRpc(ActivitySnapshot, async ({ accountId, activityId }) => {
    const snapshot = await findActivitySnapshot(db, accountId, activityId, now())
    return snapshot ? { ...snapshot, startsAt: snapshot.startsAt.toISOString() } : null
  })
