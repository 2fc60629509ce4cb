import { on } from '@tandem/bus-kit'
import { PersonHidden } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { markRowsOf } from './hidden-rows.ts'

/** Runs after the handler that stores whether the person is hidden. */
export const onPersonHidden = ({ db }: Deps) =>
  on(PersonHidden, async ({ data: { accountId } }) => await markRowsOf(db, accountId))
