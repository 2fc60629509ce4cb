const MAX_NAME_LENGTH = 40
const MAX_TEXT_LENGTH = 200

/**
 * A name that somebody chose, for a mail to another person. Only letters, digits, spaces, hyphens and apostrophes stay,
 * so that it can contain no address, no link and no sentence.
 */
export const plainName = (name: string) => keepOnly(name, /[^\p{L}\p{M}\p{N}'’ -]+/gu, MAX_NAME_LENGTH)

/**
 * The same for the name of a place or a device, which can also contain commas, slashes, parentheses and signs of
 * numbers.
 */
export const plainText = (text: string) => keepOnly(text, /[^\p{L}\p{M}\p{N}'’ ,/()#+&-]+/gu, MAX_TEXT_LENGTH)

function keepOnly (text: string, unwanted: RegExp, maxLength: number) {
  const kept = text.normalize('NFKC').replaceAll(unwanted, ' ').replaceAll(/\s+/g, ' ').trim()
  return cut(kept, maxLength) || '–'
}

// Control characters, and those that change the direction of a text or are invisible.
const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+/gu
const TAG = /<[/!?\p{L}][^>]*>?/gu
// It begins where a word begins: searched for from each letter, a long word would take the square of its length.
const URL_WITH_SCHEME = /(?<![\p{L}\p{N}+.-])[\p{L}\p{N}+.-]*:\/\/\S*/gu
/** A dot between a word and a letter. Clients make a link of `example.com`, and none of `example. com`. */
const DOT_OF_DOMAIN = /(?<=[\p{L}\p{N}_-])[.．。｡](?=\p{L})/gu

/** A sentence that somebody wrote, to quote: without markup, and without anything that a client makes a link of. */
export const plainQuote = (text: string) =>
  cut(
    text.replaceAll(INVISIBLE, ' ').replaceAll(TAG, ' ').replaceAll(URL_WITH_SCHEME, '…').replaceAll(
      DOT_OF_DOMAIN,
      '. '
    )
      .replaceAll(/\s+/g, ' ').trim(),
    MAX_TEXT_LENGTH
  )

/** At most `maxLength` characters; none is cut in half. */
const cut = (text: string, maxLength: number) => new RegExp(`^.{0,${maxLength}}`, 'u').exec(text)?.[0].trim() ?? ''
