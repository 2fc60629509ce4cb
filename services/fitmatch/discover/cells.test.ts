import t from 'tap'
import { cellRangesAround } from './cells.ts'

const RADIANS = Math.PI / 180 / 100
const EARTH_RADIUS_KM = 6371
const MAX_DISTANCE_KM = 500
const cellOf = (latitude: number, longitude: number) =>
  Math.floor((latitude + 9000) / 5) * 7200 + Math.floor((longitude + 18000) / 5) % 7200

t.test('a search covers every cell that its circle touches, across the date line and around the poles', async (t) => {
  const circles = [
    [-621, 10685, 25],
    [5250, 1340, 50],
    [4814, 1158, 500],
    [0, 17999, 30],
    [6990, -18000, 80],
    [7822, 1564, 500],
    [8550, 12000, 499],
    [8990, 0, 40],
    [8990, 0, 500],
    [9000, 7, 500],
    [-9000, 500, 25],
    [-8700, -17990, 500],
    [0, 0, 1]
  ] as const
  for (const [latitude, longitude, km] of circles) {
    const ranges = cellRangesAround({ latitude, longitude, cell: 0 }, km)
    let missed = 0
    for (let turn = 0; turn < 4000; turn++) {
      const bearing = turn * 2.399
      const far = km * Math.sqrt((turn % 100) / 100) / EARTH_RADIUS_KM
      const sine = Math.sin(latitude * RADIANS) * Math.cos(far) +
        Math.cos(latitude * RADIANS) * Math.sin(far) * Math.cos(bearing)
      const lat2 = Math.asin(Math.max(-1, Math.min(1, sine)))
      const lon2 = longitude * RADIANS +
        Math.atan2(
          Math.sin(bearing) * Math.sin(far) * Math.cos(latitude * RADIANS),
          Math.cos(far) - Math.sin(latitude * RADIANS) * Math.sin(lat2)
        )
      const wrapped = ((lon2 / RADIANS + 18000) % 36000 + 36000) % 36000 - 18000
      const cell = cellOf(Math.trunc(lat2 / RADIANS), Math.trunc(wrapped))
      if (!ranges.some(({ first, last }) => first <= cell && cell <= last)) missed++
    }
    t.equal(missed, 0, `${latitude} ${longitude} ${km}`)
  }
})

t.test('a search needs few ranges of cells, at any place and distance', async (t) => {
  let [most, wrong] = [0, 0]
  for (let latitude = -9000; latitude <= 9000; latitude += 10) {
    for (const longitude of [-18000, -17995, 0, 10685, 17999, 18000]) {
      const ranges = cellRangesAround({ latitude, longitude, cell: 0 }, MAX_DISTANCE_KM)
      most = Math.max(most, ranges.length)
      const sorted = ranges.toSorted((one, other) => one.first - other.first)
      // A cell in two ranges would return its people twice.
      wrong += sorted.filter(({ first, last }, index) =>
        last < first || first <= (sorted[index - 1]?.last ?? -1)
      ).length
    }
  }
  t.ok(most <= 2 * 182, `${most} ranges at most`)
  t.equal(wrong, 0)
})
