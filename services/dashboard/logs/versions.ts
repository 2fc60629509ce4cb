import { isDeepStrictEqual } from 'node:util'
import { dayIn } from '@tandem/account-kit'
import { compareTexts } from '../log-types/data.ts'
import type { StoredLog, Write } from './changes.ts'
import { isDeleted, type DeletedItem, type Item } from './items.ts'
import type { Tombstone } from './tombstones.ts'

/** What decides which of two versions of a log stays. */
interface Version {
  modifiedAt: Date | null
  /** The version is the deletion of the log. Without a time, nothing brings the log back. */
  isDeleted: boolean
  /** Decides between versions of the same time, so that it does not matter which arrives first. */
  content: string
}

/**
 * Whether a version replaces the current one: of two with a time the later, of a deletion and another the deletion
 * unless that is earlier, of two without a time the one that arrives last. Pure.
 */
export function replaces (version: Version, current: Version | undefined) {
  if (!current) return true
  const [time, currentTime] = [version.modifiedAt?.getTime(), current.modifiedAt?.getTime()]
  if (current.isDeleted && currentTime === undefined) return false
  if (version.isDeleted && time === undefined) return true
  if (time === undefined || currentTime === undefined) return !current.isDeleted
  if (time !== currentTime) return time > currentTime
  if (version.isDeleted !== current.isDeleted) return version.isDeleted
  return compareTexts(version.content, current.content) >= 0
}

/** What is known of a log. */
export interface Current {
  stored: StoredLog | undefined
  tombstone: Tombstone | undefined
  /** The item of this batch that has replaced them. */
  item?: Item | DeletedItem
}

export const versionOf = (item: Item | DeletedItem) => ({
  modifiedAt: item.modifiedAt ?? null,
  isDeleted: isDeleted(item),
  content: isDeleted(item) ? '' : contentOf(item)
})

const contentOf = (
  { type, at, endsAt, data }: Pick<StoredLog, 'type' | 'data'> & { at: Date, endsAt?: Date | null | undefined }
) => JSON.stringify([type, at, endsAt ?? null, sortKeys(data)])

// Postgres returns the fields of JSON in an order of its own.
const sortKeys = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sortKeys)
    : typeof value === 'object' && value !== null
    ? Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([key, inner]) => [key, sortKeys(inner)])
    : value

export function currentVersionOf ({ item, stored, tombstone }: Current) {
  if (item) return versionOf(item)
  if (stored) return { modifiedAt: stored.modifiedAt, isDeleted: false, content: contentOf(stored) }
  if (tombstone && !tombstone.isUndone) return { modifiedAt: tombstone.modifiedAt, isDeleted: true, content: '' }
}

export const hasChanged = (item: Item, stored: StoredLog, zone: string) =>
  contentOf(item) !== contentOf(stored) ||
  zoneOf(item, stored, zone) !== stored.timezone ||
  item.modifiedAt?.getTime() !== stored.modifiedAt?.getTime() ||
  !isDeepStrictEqual(item.source ?? null, stored.source) ||
  item.isSplit === true && !stored.isSplit

export function toWrite (item: Item, stored: StoredLog | undefined, { zone, importId, restoredId }: {
  zone: string,
  importId: string | undefined,
  restoredId: string | null
}): Write {
  const isOfSource = item.externalId !== undefined
  return {
    key: item.key,
    restoredId,
    sentClientId: isOfSource ? item.clientId : null,
    externalId: item.externalId ?? null,
    type: item.type,
    at: item.at,
    endsAt: item.endsAt ?? null,
    ...dayAndZoneOf(item, stored, zone),
    data: item.data,
    modifiedAt: item.modifiedAt ?? null,
    source: item.source ?? null,
    isSplit: item.isSplit ?? stored?.isSplit ?? false,
    importId: importId ?? null
  }
}

/**
 * The day of a log is that of the place where it was written: of the time zone that the client names, else the one that
 * the log has already, else the offset of `at`, else `zone`, where the person is now. So neither a later move nor an edit
 * at home changes the day of a log of a journey. Where a source has an id, what it says now is more than what it said.
 */
export function dayAndZoneOf (item: Timed, stored: Pick<StoredLog, 'timezone'> | undefined, zone: string) {
  const timezone = zoneOf(item, stored, zone)
  return { day: dayIn(timezone, item.at).toString(), timezone }
}

type Timed = Pick<Item, 'at' | 'timezone' | 'offset' | 'externalId'>

function zoneOf (
  { at, timezone, offset, externalId }: Timed,
  stored: Pick<StoredLog, 'timezone'> | undefined,
  zone: string
) {
  const ofSource = externalId === undefined ? undefined : offset
  const ofClient = stored?.timezone ?? (offset && offset !== offsetIn(zone, at) ? offset : zone)
  return timezone ?? ofSource ?? ofClient
}

const offsetIn = (zone: string, at: Date) =>
  Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(zone).offset
