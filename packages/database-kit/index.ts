export { connect } from './connect.ts'
export { inSavepoints } from './savepoints.ts'
export { DELETED_AT_ONCE, deleteChunk, deleteInChunks } from './delete-in-chunks.ts'
export { deleteExpiredQuotas, readDailyQuota, useDailyQuota, type DailyQuotaTables } from './daily-quota.ts'
export { findNextDue, workDue, workLocked } from './due-rows.ts'
export { lookupArray } from './lookup-arrays.ts'
export { createQueryGauge, type QueryGaugeSource } from './metrics.ts'
export { migrate } from './migrate.ts'
export {
  deleteExpiredIdempotencyKeys,
  isRepeat,
  withIdempotencyKey,
  IdempotencyConflict,
  type IdempotencyKey,
  type IdempotencyTables
} from './idempotency.ts'
export { provision } from './provision.ts'
export { isLockTimeout, isUniqueViolation } from './refusals.ts'
export { upsertVersioned } from './upsert-versioned.ts'
export { checkWritable, watchDisk } from './writable.ts'
