import { on } from '@tandem/bus-kit'
import { AccountVerified } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { keepVerified } from './reporters.ts'

export const onAccountVerified = ({ db }: Deps) => on(AccountVerified, async ({ data }) => await keepVerified(db, data.accountId))
