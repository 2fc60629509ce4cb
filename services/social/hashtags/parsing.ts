import { withoutLinks } from '../mentions/parsing.ts'

const MOST = 30
const LONGEST = 100

// One or several in a row, not in the middle of a word, of an address or of a character reference.
const runs = /(?<![\p{L}\p{M}\p{N}_&/])(?:[#＃][\p{L}\p{M}\p{N}_]+)+/gu

/** The hashtags of a text as they are stored, each once; a number alone is none. */
export function parseHashtags (text: string) {
  const tags = [...withoutLinks(text).matchAll(runs)].flatMap(([run]) => run.split(/[#＃]/u).filter(Boolean)).map(foldTag)
  return [...new Set(tags.filter((tag) => /\p{L}/u.test(tag) && tag.length <= LONGEST))].slice(0, MOST)
}

/** A tag as it is stored and compared: without its sign and without regard to case and width. */
export const foldTag = (tag: string) => tag.normalize('NFKC').replace(/^#/, '').toLowerCase()
