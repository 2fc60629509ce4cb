import type { Kysely, Transaction } from 'kysely'
import type { DeadLetterTables, InboxTables, OutboxTables } from '@tandem/bus-kit'
import type { IdempotencyTables } from '@tandem/database-kit'
import type { MailTables } from '@tandem/mail-kit'

export interface Tables extends OutboxTables, InboxTables, DeadLetterTables, IdempotencyTables, MailTables {}

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>
