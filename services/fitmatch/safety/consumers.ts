import { on } from '@tandem/bus-kit'
import { AccountVerified } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { markEmailVerified } from './reporters.ts'

export const onAccountVerified = ({ db }: Deps) =>
  on(AccountVerified, async ({ data }) => await markEmailVerified(db, data.accountId))
