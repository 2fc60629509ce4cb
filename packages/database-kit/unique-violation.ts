import pg from 'pg'

/** Whether Postgres refused a row because another one has its unique key. */
export const isUniqueViolation = (error: unknown) => error instanceof pg.DatabaseError && error.code === '23505'
