import { readLimits } from '@tandem/brand-kit'
import { isMediaKey } from '@tandem/media-url-kit'
import { StoryDurationDiffers, StoryVideoTooLong } from '../errors.ts'
import { readDuration } from '../media/queries.ts'
import type { Db } from '../tables.ts'

const MIN_SECONDS = 1
const TOLERANCE_SECONDS = 1

/**
 * How many seconds a story with a video lasts: what the file says. Of other hosts, what the author says.
 * @throws StoryDurationDiffers, StoryVideoTooLong, MediaGone
 */
export async function readStoryDuration (db: Db, video: string, stated: number | undefined) {
  if (!isMediaKey(video)) return stated ?? null
  const seconds = await readDuration(db, video)
  const { storyVideoSeconds } = readLimits()
  if (seconds > storyVideoSeconds) throw new StoryVideoTooLong({ seconds: storyVideoSeconds })
  if (stated !== undefined && Math.abs(stated - seconds) > TOLERANCE_SECONDS) {
    throw new StoryDurationDiffers({ seconds })
  }
  return Math.max(MIN_SECONDS, seconds)
}
