// The same grid as the column `cell`: squares of a twentieth of a degree, counted from the south pole and the date
// line.
const CELL_SIZE = 5 // hundredths of a degree
const COLUMNS = 36_000 / CELL_SIZE
const LAST_ROW = 18_000 / CELL_SIZE
// One degree of a great circle is 111.19 km. Slightly less here, so that no cell at the edge is missed.
const KM_PER_DEGREE = 111
const RADIANS = Math.PI / 180

interface Position {
  latitude: number | null
  longitude: number | null
  cell: number
}

/** Consecutive cell numbers, both ends included. */
export interface CellRange {
  first: number
  last: number
}

/**
 * The cells that a circle of `km` around a grid position touches: one or two ranges per row, so at most a few hundred,
 * wherever the circle lies. People without a position get the one cell of people without a position in their city.
 */
export function cellRangesAround ({ latitude, longitude, cell }: Position, km: number): CellRange[] {
  if (latitude === null || longitude === null) return [{ first: cell, last: cell }]
  const radiusDegrees = km / KM_PER_DEGREE
  const firstRow = Math.max(0, rowAt(latitude - radiusDegrees * 100))
  const lastRow = Math.min(LAST_ROW, rowAt(latitude + radiusDegrees * 100))
  const ranges: CellRange[] = []
  for (let row = firstRow; row <= lastRow; row++) {
    const south = row * CELL_SIZE / 100 - 90
    const halfWidth = 100 * maxHalfWidth(south, south + CELL_SIZE / 100, { latitude: latitude / 100, radiusDegrees })
    ranges.push(
      ...columnsOf(
        row,
        Math.floor((longitude - halfWidth + 18_000) / CELL_SIZE),
        Math.floor((longitude + halfWidth + 18_000) / CELL_SIZE)
      )
    )
  }
  return ranges
}

const rowAt = (latitude: number) => Math.floor((latitude + 9_000) / CELL_SIZE)

/** The circle's largest extent between two latitudes, in degrees of longitude to each side of its centre. */
function maxHalfWidth (
  south: number,
  north: number,
  { latitude, radiusDegrees }: { latitude: number, radiusDegrees: number }
) {
  // The circle is widest where a meridian touches it, which is not in the row of its centre. Around a pole no meridian
  // touches it.
  const sine = Math.sin(latitude * RADIANS) / Math.cos(radiusDegrees * RADIANS)
  const tangentLatitude = Math.abs(sine) < 1 ? Math.asin(sine) / RADIANS : latitude
  const edges = [south, north, Math.min(north, Math.max(south, tangentLatitude))]
  return Math.max(...edges.map((edge) => halfWidthAt(edge, { latitude, radiusDegrees })))
}

function halfWidthAt (edge: number, { latitude, radiusDegrees }: { latitude: number, radiusDegrees: number }) {
  const breadth = Math.cos(latitude * RADIANS) * Math.cos(edge * RADIANS)
  const height = Math.cos(radiusDegrees * RADIANS) - Math.sin(latitude * RADIANS) * Math.sin(edge * RADIANS)
  // At a pole all longitudes are the same place.
  if (breadth < 1e-9) return 180
  return Math.acos(Math.max(-1, Math.min(1, height / breadth))) / RADIANS
}

/** A row's cells from west to east. The range may cross the date line. */
function columnsOf (row: number, west: number, east: number): CellRange[] {
  const start = row * COLUMNS
  if (east - west >= COLUMNS - 1) return [{ first: start, last: start + COLUMNS - 1 }]
  const [first, last] = [(west + COLUMNS) % COLUMNS, (east + COLUMNS) % COLUMNS]
  if (first <= last) return [{ first: start + first, last: start + last }]
  return [{ first: start, last: start + last }, { first: start + first, last: start + COLUMNS - 1 }]
}
