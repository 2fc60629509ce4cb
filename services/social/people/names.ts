// Letters that Unicode does not decompose, as Postgres' unaccent spells them.
const LETTERS: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ŧ: 't',
  ŋ: 'n',
  ĸ: 'q'
}

/**
 * A name as searches compare it, and what people type for it: lower case, without accents and apostrophes, its words
 * separated by spaces.
 */
export function normalizeName (name: string) {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
    .replace(/[ßæœþłøđðħıŧŋĸ]/g, (letter) => LETTERS[letter] as string)
    .replace(/['’‘ʼʻ`´＇]/g, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** A tsquery for names in which every word of `text` is the start of a word. Undefined if `text` contains no word. */
export function toPrefixQuery (text: string) {
  const words = normalizeName(text).split(' ').filter(Boolean)
  return words.length === 0 ? undefined : words.map((word) => `'${word}':*`).join(' & ')
}
