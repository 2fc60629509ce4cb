import { on } from '@tandem/bus-kit'
import { SuspensionChanged } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { setSuspended } from './actions.ts'

export const onSuspensionChanged = ({ db }: Deps) =>
  on(
    SuspensionChanged,
    async ({ data: { accountId, suspended }, time }) => await setSuspended(db, accountId, suspended, time)
  )
