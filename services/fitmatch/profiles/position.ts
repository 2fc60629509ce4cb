import { ValidationError } from '@tandem/service-kit'

const HUNDREDTHS = 100

/** A coordinate on the grid that positions are kept on: hundredths of a degree, about 1.1 km. */
export const roundToGrid = (degrees: number) => Math.round(degrees * HUNDREDTHS) || 0

export const toDegrees = (hundredths: number | null) => hundredths === null ? null : hundredths / HUNDREDTHS

/** A coordinate as others may see it. */
export const roundDegrees = (degrees: number | null) => degrees === null ? null : toDegrees(roundToGrid(degrees))

/** @throws ValidationError for half a position */
export function checkPosition ({ latitude, longitude }: { latitude?: number | null, longitude?: number | null }) {
  const isHalf = (typeof latitude === 'number') !== (typeof longitude === 'number')
  if (isHalf) throw new ValidationError('latitude and longitude belong together')
}
