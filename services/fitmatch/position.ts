import { ValidationError } from '@tandem/http-kit'

const STEPS_PER_DEGREE = 100

/** Rounds a coordinate to the grid of stored positions: hundredths of a degree, about 1.1 km. */
export const roundToGrid = (degrees: number) => Math.round(degrees * STEPS_PER_DEGREE) || 0

export const toDegrees = (hundredths: number | null) => hundredths === null ? null : hundredths / STEPS_PER_DEGREE

/** A coordinate rounded to the grid, as other people see it. */
export const roundDegrees = (degrees: number | null) => degrees === null ? null : toDegrees(roundToGrid(degrees))

/** @throws ValidationError if only one of the two coordinates is given */
export function checkPosition ({ latitude, longitude }: { latitude?: number | null, longitude?: number | null }) {
  const isHalf = (typeof latitude === 'number') !== (typeof longitude === 'number')
  if (isHalf) {
    throw new ValidationError('latitudeAndLongitudeMustBeGivenTogether', ['latitude', 'longitude'])
  }
}
