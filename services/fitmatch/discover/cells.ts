// The same square grid as the column `cell`: a twentieth of a degree, counted from the south pole and the date line.
const CELL = 5 // hundredths of a degree
const AROUND = 36_000 / CELL
const ROWS = 18_000 / CELL
// One degree of a great circle is 111.19 km; a little less here, so that no cell at the edge is left out.
const KM_PER_HUNDREDTH = 1.11

interface Place { latitude: number | null, longitude: number | null, cell: number }

/** The cells that a circle of `km` around a snapped position touches. Who has no position finds those of his city who have none. */
export function cellsAround ({ latitude, longitude, cell }: Place, km: number): number[] {
  if (latitude === null || longitude === null) return [cell]
  const reach = km / KM_PER_HUNDREDTH
  const first = Math.max(0, Math.floor((latitude - reach + 9_000) / CELL))
  const last = Math.min(ROWS, Math.floor((latitude + reach + 9_000) / CELL))
  const cells: number[] = []
  for (let row = first; row <= last; row++) {
    const south = row * CELL - 9_000
    const north = south + CELL
    // How far east and west the circle goes in this row, measured where degrees of longitude are shortest.
    const apart = latitude < south ? south - latitude : latitude > north ? latitude - north : 0
    const half = Math.sqrt(Math.max(0, reach ** 2 - apart ** 2))
    const shrink = Math.cos(Math.min(90, Math.max(Math.abs(south), Math.abs(north)) / 100) * Math.PI / 180)
    const width = shrink < 0.01 ? AROUND * CELL : half / shrink
    const west = Math.floor((longitude - width + 18_000) / CELL)
    const east = Math.floor((longitude + width + 18_000) / CELL)
    for (let column = west; column <= Math.min(east, west + AROUND - 1); column++) cells.push(row * AROUND + (column % AROUND + AROUND) % AROUND)
  }
  return cells
}
