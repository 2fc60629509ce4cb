const MAX_LENGTH = 40
const MAX_PLACE_LENGTH = 200

/**
 * A name that somebody chose, for a mail to another person. Only letters, digits, spaces, hyphens and apostrophes stay,
 * so that it can contain no address, no link and no sentence.
 */
export const plainName = (name: string) => plain(name, /[^\p{L}\p{M}\p{N}'’ -]+/gu, MAX_LENGTH)

/** The same for the name of a place, which can also contain commas, slashes, parentheses and signs of numbers. */
export const plainText = (text: string) => plain(text, /[^\p{L}\p{M}\p{N}'’ ,/()#+&-]+/gu, MAX_PLACE_LENGTH)

function plain (text: string, unwanted: RegExp, maxLength: number) {
  const kept = text.normalize('NFKC').replaceAll(unwanted, ' ').replaceAll(/\s+/g, ' ').trim()
  return new RegExp(`^.{0,${maxLength}}`, 'u').exec(kept)?.[0].trim() || '–'
}
