export { connect, type ConnectOptions, type Log } from './connect.ts'
export { migrate } from './migrate.ts'
export { once, IdempotencyConflict, type IdempotencyKey, type IdempotencyTables } from './idempotency.ts'
export { provision } from './provision.ts'
