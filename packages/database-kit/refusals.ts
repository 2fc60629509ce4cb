import pg from 'pg'

/** Whether Postgres refused a row because another one has its unique key. */
export const isUniqueViolation = (error: unknown) => error instanceof pg.DatabaseError && error.code === '23505'

/** Whether Postgres gave up waiting for a lock. */
export const isLockTimeout = (error: unknown) => error instanceof pg.DatabaseError && error.code === '55P03'

/** Whether Postgres ended a statement because it took too long. */
export const isStatementTimeout = (error: unknown) => error instanceof pg.DatabaseError && error.code === '57014'
