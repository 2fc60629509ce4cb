import { handleRpc } from '@tandem/bus-kit'
import { Departures } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { listDepartures } from './queries.ts'

export const handleDepartures = ({ db }: Deps) =>
  handleRpc(Departures, async ({ after }) => {
    const { at, ...page } = await listDepartures(db, after)
    return { at: at.toISOString(), ...page }
  })
