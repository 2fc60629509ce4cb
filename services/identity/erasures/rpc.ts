import { handleRpc } from '@tandem/bus-kit'
import { HiddenOrErased } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { listHiddenOrErased } from './queries.ts'

export const handleHiddenOrErased = ({ db }: Deps) =>
  handleRpc(HiddenOrErased, async ({ after }) => {
    const { at, ...page } = await listHiddenOrErased(db, after)
    return { at: at.toISOString(), ...page }
  })
