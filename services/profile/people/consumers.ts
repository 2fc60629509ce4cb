import { on } from '@tandem/bus-kit'
import { AccountRegistered } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { addPerson } from './actions.ts'

export const onAccountRegistered = ({ db }: Deps) =>
  on(AccountRegistered, async ({ data }) => await addPerson(db, data))
