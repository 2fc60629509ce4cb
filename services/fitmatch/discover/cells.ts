// The same square grid as the column `cell`: a twentieth of a degree, counted from the south pole and the date line.
const CELL_SIZE = 5 // hundredths of a degree
const COLUMNS = 36_000 / CELL_SIZE
const LAST_ROW = 18_000 / CELL_SIZE
// One degree of a great circle is 111.19 km; a little less here, so that no cell at the edge is left out.
const KM_PER_DEGREE = 111
const RADIANS = Math.PI / 180

interface Place { latitude: number | null, longitude: number | null, cell: number }

/** Cells whose numbers follow each other. */
export interface CellRange { first: number, last: number }

/**
 * The cells that a circle of `km` around a snapped position touches: one or two ranges for each row, so there are never more than some
 * hundred, wherever the circle lies. People without a position find those of their city who have none.
 */
export function cellRangesAround ({ latitude, longitude, cell }: Place, km: number): CellRange[] {
  if (latitude === null || longitude === null) return [{ first: cell, last: cell }]
  const radiusDegrees = km / KM_PER_DEGREE
  const firstRow = Math.max(0, rowAt(latitude - radiusDegrees * 100))
  const lastRow = Math.min(LAST_ROW, rowAt(latitude + radiusDegrees * 100))
  const ranges: CellRange[] = []
  for (let row = firstRow; row <= lastRow; row++) {
    const south = row * CELL_SIZE / 100 - 90
    const width = 100 * maxHalfWidth(south, south + CELL_SIZE / 100, { latitude: latitude / 100, radiusDegrees })
    ranges.push(...columnsOf(row, Math.floor((longitude - width + 18_000) / CELL_SIZE), Math.floor((longitude + width + 18_000) / CELL_SIZE)))
  }
  return ranges
}

const rowAt = (latitude: number) => Math.floor((latitude + 9_000) / CELL_SIZE)

/** How many degrees of longitude the circle goes to each side of its middle between two latitudes, at most. */
function maxHalfWidth (south: number, north: number, { latitude, radiusDegrees }: { latitude: number, radiusDegrees: number }) {
  // The circle is widest where a meridian touches it, which is not in the row of its middle. Around a pole no meridian does.
  const sine = Math.sin(latitude * RADIANS) / Math.cos(radiusDegrees * RADIANS)
  const touched = Math.abs(sine) < 1 ? Math.asin(sine) / RADIANS : latitude
  const edges = [south, north, Math.min(north, Math.max(south, touched))]
  return Math.max(...edges.map((edge) => halfWidthAt(edge, { latitude, radiusDegrees })))
}

function halfWidthAt (edge: number, { latitude, radiusDegrees }: { latitude: number, radiusDegrees: number }) {
  const breadth = Math.cos(latitude * RADIANS) * Math.cos(edge * RADIANS)
  const height = Math.cos(radiusDegrees * RADIANS) - Math.sin(latitude * RADIANS) * Math.sin(edge * RADIANS)
  // At a pole all longitudes are one place.
  if (breadth < 1e-9) return 180
  return Math.acos(Math.max(-1, Math.min(1, height / breadth))) / RADIANS
}

/** A row's columns from west to east, which may lie across the date line. */
function columnsOf (row: number, west: number, east: number): CellRange[] {
  const start = row * COLUMNS
  if (east - west >= COLUMNS - 1) return [{ first: start, last: start + COLUMNS - 1 }]
  const [first, last] = [(west + COLUMNS) % COLUMNS, (east + COLUMNS) % COLUMNS]
  if (first <= last) return [{ first: start + first, last: start + last }]
  return [{ first: start, last: start + last }, { first: start + first, last: start + COLUMNS - 1 }]
}
