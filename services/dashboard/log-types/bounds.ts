/** Between which amounts a measurement is. In a file of its own, because the process that reads files needs no schemas. */
export const amountBounds = {
  bpm: { minimum: 20, maximum: 300 },
  count: { minimum: 0, maximum: 200_000 },
  meters: { minimum: 0, maximum: 1_000_000 },
  kcal: { minimum: 0, maximum: 50_000 }
}
