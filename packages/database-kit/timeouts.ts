/**
 * How long anything waits for Postgres. `result` is measured here, for a server that froze; the server measures the
 * others, and ends what takes longer.
 */
export const TIMEOUTS_MS = { connect: 2_000, statement: 2_000, lock: 1_000, idleInTransaction: 5_000, result: 3_000 }
