import { on } from '@tandem/bus-kit'
import { BroadcastSent } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { insertBroadcast } from './actions.ts'

export const onBroadcastSent = ({ db }: Deps) =>
  on(
    BroadcastSent,
    async ({ time, data: { broadcastId, title, body } }) =>
      await insertBroadcast(db, { id: broadcastId, title, body }, time)
  )
