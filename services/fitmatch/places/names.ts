/** A name without case, marks and punctuation. Names with the same key are alike. */
export const nameKeyOf = (name: string) =>
  name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ').trim()
