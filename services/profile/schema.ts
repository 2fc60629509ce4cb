import type { Kysely, Transaction } from 'kysely'
import type { DeadLetterTables, InboxTables, OutboxTables } from '@tandem/bus-kit'
import type { IdempotencyTables } from '@tandem/database-kit'

export interface Tables extends OutboxTables, InboxTables, DeadLetterTables, IdempotencyTables {}

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>
