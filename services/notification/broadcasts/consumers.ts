import { on } from '@tandem/bus-kit'
import { BroadcastSent } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { noteBroadcast } from './actions.ts'

export const onBroadcastSent = ({ db }: Deps) => on(BroadcastSent, async ({ time, data: { broadcastId, title, body } }) =>
  await noteBroadcast(db, { id: broadcastId, title, body }, time))
