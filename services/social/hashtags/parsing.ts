import { stripLinks } from '../mentions/parsing.ts'

const MAX_TAGS = 30
const MAX_TAG_LENGTH = 100

// One tag or several in a row, but not inside a word, a URL or an HTML character reference.
const tagRuns = /(?<![\p{L}\p{M}\p{N}_&/])(?:[#＃][\p{L}\p{M}\p{N}_]+)+/gu

/** The distinct hashtags of a text, normalized. A number alone is not a hashtag. */
export function parseHashtags (text: string) {
  const tags = [...stripLinks(text).matchAll(tagRuns)].flatMap(([run]) => run.split(/[#＃]/u).filter(Boolean)).map(
    normalizeTag
  )
  return [...new Set(tags.filter((tag) => /\p{L}/u.test(tag) && tag.length <= MAX_TAG_LENGTH))].slice(0, MAX_TAGS)
}

/** A tag as it is stored and compared: without the `#`, in lower case, in normal width. */
export const normalizeTag = (tag: string) => tag.normalize('NFKC').replace(/^#/, '').toLowerCase()
