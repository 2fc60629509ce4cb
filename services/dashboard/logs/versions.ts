import { compareTexts } from '../log-types/data.ts'

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
