import { blankLinks } from '../mentions/parsing.ts'

const MAX_TAGS = 30
const MAX_TAG_LENGTH = 100

// Joiners (Persian, Sinhala), the middle dot (Catalan) and the geresh (Hebrew) belong to a word when they are inside it.
const tagPattern = String.raw`[#＃][\p{L}\p{N}_](?:[\u200C\u200D·׳״]?[\p{L}\p{M}\p{N}_])*`
// One tag or several in a row, but not inside a word, a URL or an HTML character reference. The marks at the end of an
// emoji do not make it a word.
const tagRuns = new RegExp(String.raw`(?<![[\p{L}\p{M}\p{N}_&\/]--[\uFE0F\u20E3]])(?:${tagPattern})+`, 'gv')

/** A hashtag in a text, from its `#` up to, but without, `end`: positions in UTF-16 code units, as in JavaScript. */
interface HashtagSpan {
  /** Normalized. */
  tag: string
  start: number
  end: number
}

/** The hashtags in a text, in order. A number alone is not a hashtag. */
export function findHashtags (text: string): HashtagSpan[] {
  if (!/[#＃]/.test(text)) return []
  const tags = [...blankLinks(text).matchAll(tagRuns)].flatMap((run) =>
    [...run[0].matchAll(/[#＃]([^#＃]+)/gu)].map(({ 0: match, 1: tag = '', index }) => {
      const start = run.index + index
      return { tag: normalizeTag(tag), start, end: start + match.length }
    })
  )
  return tags.filter(({ tag }) => /\p{L}/u.test(tag) && tag.length <= MAX_TAG_LENGTH)
}

/** The distinct hashtags of a text. */
export const parseHashtags = (text: string) => [...new Set(findHashtags(text).map(({ tag }) => tag))].slice(0, MAX_TAGS)

/** A tag as it is stored and compared: without the `#`, in lower case, in normal width. The İ is an i there too. */
export const normalizeTag = (tag: string) =>
  tag.normalize('NFKC').replace(/^#/, '').toLowerCase().replaceAll('i\u0307', 'i')
