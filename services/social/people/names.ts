/** A name as it is searched: lower case, without accents, its words separated by spaces. */
export function foldName (name: string) {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ').trim()
}

/** A query of Postgres's text search: every word begins one of the name's. Undefined when `text` holds no word. */
export function wordsBeginning (text: string) {
  const words = foldName(text).split(' ').filter(Boolean)
  return words.length === 0 ? undefined : words.map((word) => `'${word}':*`).join(' & ')
}
