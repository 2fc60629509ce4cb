import { handleRpc } from '@tandem/bus-kit'
import { OfferedOptions } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { listOffered } from './queries.ts'

export const handleOfferedOptions = ({ db }: Deps) =>
  handleRpc(OfferedOptions, async ({ type, optionIds }) => await listOffered(db, type, optionIds))
