import { ValidationError } from '@tandem/service-kit'

const HUNDREDTHS = 100

/** A coordinate on the grid that positions are kept on: hundredths of a degree, about 1.1 km. */
export const roundToGrid = (degrees: number) => Math.round(degrees * HUNDREDTHS) || 0

export const toDegrees = (snapped: number | null) => snapped === null ? null : snapped / HUNDREDTHS

/** A coordinate as others may see it. */
export const blur = (degrees: number | null) => degrees === null ? null : toDegrees(roundToGrid(degrees))

/** @throws ValidationError for half a position */
export function checkWhole ({ latitude, longitude }: { latitude?: number | null, longitude?: number | null }) {
  const isHalf = (typeof latitude === 'number') !== (typeof longitude === 'number')
  if (isHalf) throw new ValidationError('latitude and longitude belong together')
}
