import { on } from '@tandem/bus-kit'
import { OperatorActed } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { logOperatorAction } from './actions.ts'

export const onOperatorActed = ({ db }: Deps) =>
  on(OperatorActed, async ({ id, time, data }) => await logOperatorAction(db, id, time, data))
