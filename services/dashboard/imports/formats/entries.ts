import type { LogType, Source } from '../../tables.ts'

/** What a file says, as an item of a batch, and which and how many entries of the file it is made of. */
export interface Entry {
  line: number
  count: number
  /** It is a workout that was taken out of its session. */
  isSplit?: boolean
  item: {
    type: LogType,
    source?: Source,
    externalId?: string,
    clientId?: string,
    at?: string,
    startAt?: string,
    endAt?: string,
    timezone?: string,
    modifiedAt?: string,
    data: object
  }
}

export interface FormatOptions {
  /** Of times without an offset. */
  timezone: string
  /** Of a CSV file: which column is which field. */
  columns: Record<string, string> | null
}

/** A file that is not what it should be: broken, or made to do harm. Nothing of it is stored. */
export class HostileFile extends Error {}

/** How the process that reads a file ends if it refuses it: its last line is the reason. Node's own codes are lower. */
export const REFUSED_CODE = 100

export const importedBy = (app: string, more: Partial<Source> = {}): Source => ({ platform: 'IMPORT', app, ...more })

/** A sport as other files call it. Nothing if the file does not know it, so that it can be that of another source. */
export function sportOf (name: string) {
  const sport = name.toLowerCase().slice(0, 50)
  if (sport === '' || sport === 'other' || sport === 'generic') return {}
  return { sport: sport === 'biking' ? 'cycling' : sport }
}

/** An instant as a part of an id: the same in whatever time zone the file has it. */
export function idOfInstant (text: string) {
  const at = Date.parse(text)
  return Number.isNaN(at) ? text : new Date(at).toISOString()
}

/** A time of day at a place, as an instant with the offset of that place. */
export function toInstant (text: string, timezone: string) {
  const normalized = text.trim().replace(' ', 'T')
  if (/(?:Z|[+-]\d{2}:?\d{2})(?:\[[^\]]{0,100}\])?$/.test(normalized)) return normalized
  try {
    return Temporal.PlainDateTime.from(normalized).toZonedDateTime(timezone).toString({ timeZoneName: 'never' })
  } catch {
    return text
  }
}
