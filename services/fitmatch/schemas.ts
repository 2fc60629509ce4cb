import Type from 'typebox'
import { createInvalidCursor, Enum, named } from '@tandem/http-kit'
import { genders } from './tables.ts'

export const Gender = named('Gender', Enum(genders))

const timeCursor = '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

/** A `nextCursor` of a list that is ordered by a time, in milliseconds, and an id. */
export const TimeCursor = Type.String({ pattern: timeCursor })

/** A place in such a list. */
export interface TimePosition {
  time: Date
  id: string
}

export const formatTimeCursor = ({ time, id }: TimePosition) => `${time.toISOString()}_${id}`

/** @throws ValidationError */
export function parseTimeCursor (text: string | undefined): TimePosition | undefined {
  if (text === undefined) return
  const [timeText = '', id = ''] = text.split('_')
  const time = new Date(timeText)
  if (!new RegExp(timeCursor).test(text) || Number.isNaN(time.getTime())) throw createInvalidCursor()
  return { time, id }
}
