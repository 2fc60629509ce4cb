/** A number with its noun. */
export const count = (number: number | string, one: string, many: string) =>
  `${number} ${Number(number) === 1 ? one : many}`
