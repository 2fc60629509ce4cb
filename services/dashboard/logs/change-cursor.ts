import { createInvalidCursor } from '@tandem/http-kit'
import type { Db } from '../tables.ts'
import { listChanges, type ChangePosition } from './queries.ts'

const START: ChangePosition = { revision: -1, id: '00000000-0000-0000-0000-000000000000' }

/** The logs and tombstones that changed after a cursor of an earlier response, and the next cursor. */
export async function readChanges (
  db: Db,
  accountId: string,
  { cursor, limit }: { cursor: string | undefined, limit: number }
) {
  const after = cursor === undefined ? START : parseCursor(cursor)
  const changes = await listChanges(db, accountId, { after, limit })
  const { revision, id } = changes.at(-1) ?? after
  return { changes: changes.map(({ revision: _, ...change }) => change), cursor: `${revision}_${id}` }
}

function parseCursor (cursor: string): ChangePosition {
  const [, revision, id] = /^(-?\d{1,15})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(cursor) ?? []
  if (revision === undefined || id === undefined) throw createInvalidCursor()
  return { revision: Number(revision), id }
}
