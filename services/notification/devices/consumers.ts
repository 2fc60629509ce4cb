import { on } from '@tandem/bus-kit'
import { SessionsEnded } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { endSessions } from './actions.ts'

export const onSessionsEnded = ({ db }: Deps) =>
  on(SessionsEnded, async ({ data: { accountId, sessionIds } }) => await endSessions(db, accountId, sessionIds))
