import { createInvalidCursor } from '@tandem/http-kit'

/** Where a page ended, of what is ordered by a number and then by an id: a time in milliseconds, or a revision. */
export interface Position {
  number: number
  id: string
}

export const formatCursor = ({ number, id }: Position) => `${number}_${id}`

/** @throws ValidationError */
export function parseCursor (cursor: string): Position {
  const [, number, id] = /^(-1|\d{1,15})_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(cursor) ?? []
  if (number === undefined || id === undefined) throw createInvalidCursor()
  return { number: Number(number), id }
}
