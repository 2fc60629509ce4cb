import { handleRpc } from '@tandem/bus-kit'
import { Connection } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { readConnection } from './queries.ts'

export const handleConnection = ({ db }: Deps) =>
  handleRpc(Connection, async ({ accountId, otherId }) => await readConnection(db, accountId, otherId))
