interface Kind {
  offset: number
  width: number
  known: string[]
}

// Each value of a kind has a bit, so that shared values are counted within an index, without reading lists. Values that
// are not listed here are hashed to the remaining bits, so two different ones may count as equal.
const interests: Kind = {
  offset: 0,
  width: 16,
  known: [
    'GYM_BUDDY',
    'RUNNING_PARTNER',
    'CYCLING_PARTNER',
    'SPORTS_TEAM',
    'YOGA_PARTNER',
    'HIKING_PARTNER',
    'FRIENDSHIP',
    'DATING'
  ]
}
const goals: Kind = {
  offset: 16,
  width: 16,
  known: [
    'LOSE_WEIGHT',
    'WEIGHT_LOSS',
    'BUILD_MUSCLE',
    'MUSCLE_GAIN',
    'STAY_FIT',
    'STAY_HEALTHY',
    'MAINTAIN',
    'STRENGTH',
    'ENDURANCE',
    'FLEXIBILITY',
    'STRESS_RELIEF',
    'MEET_PEOPLE'
  ]
}
const times: Kind = {
  offset: 32,
  width: 12,
  known: ['EARLY_MORNING', 'MORNING', 'AFTERNOON', 'EVENING', 'NIGHT', 'FLEXIBLE', 'WEEKEND', 'WEEKDAYS', 'WEEKENDS']
}
export const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const
const days: Kind = { offset: 44, width: 7, known: [...weekdays] }

/** FNV-1a. */
function hash (text: string) {
  let value = 0x811c9dc5
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193)
  return value >>> 0
}

function bitOf ({ offset, width, known }: Kind, value: string) {
  const text = value.toUpperCase()
  const index = known.indexOf(text)
  return 1n << BigInt(offset + (index >= 0 ? index : known.length + hash(text) % (width - known.length)))
}

const maskOf = ({ offset, width }: Kind) => String(((1n << BigInt(width)) - 1n) << BigInt(offset))

/** The bits of each kind, as decimal text for Postgres. */
export const masks = { interests: maskOf(interests), goals: maskOf(goals), times: maskOf(times), days: maskOf(days) }

interface Traits {
  interestedIn: string[]
  fitnessGoals: string[]
  preferredTimes: string[]
  workoutDays: string[]
}

/** The trait bits of a profile. The result is below 2^51, so a number holds it exactly. */
export function encodeTraits ({ interestedIn, fitnessGoals, preferredTimes, workoutDays }: Traits) {
  let bits = 0n
  for (
    const [kind, values] of [[interests, interestedIn], [goals, fitnessGoals], [times, preferredTimes], [
      days,
      workoutDays
    ]] as const
  ) {
    for (const value of values) bits |= bitOf(kind, value)
  }
  return Number(bits)
}
