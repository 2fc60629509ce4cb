/** A name as searches compare it: lower case, without accents, its words separated by spaces. */
export function normalizeName (name: string) {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ').trim()
}

/** A tsquery for names in which every word of `text` is the start of a word. Undefined if `text` contains no word. */
export function toPrefixQuery (text: string) {
  const words = normalizeName(text).split(' ').filter(Boolean)
  return words.length === 0 ? undefined : words.map((word) => `'${word}':*`).join(' & ')
}
