const MAX_BYTES_PER_DAY = 500 * 1024 * 1024
// Or an account could store hundreds of thousands of small images in a day.
const MIN_COUNTED_BYTES = 64 * 1024

/** What an image uses of the daily quota of its account, for `useDailyQuota`. @param bytes of the file that was uploaded */
export const imageQuota = (bytes: number) => ({ limit: MAX_BYTES_PER_DAY, amount: Math.max(bytes, MIN_COUNTED_BYTES) })
