import type { ColumnType, Generated, Kysely, Transaction } from 'kysely'
import type { DepartureTables } from '@tandem/account-kit'
import type { FailedMessageTables, ProcessedEventTables, OutboxTables } from '@tandem/bus-kit'
import type { IdempotencyTables } from '@tandem/database-kit'
import type { MailTables } from '@tandem/mail-kit'

export interface Tables
  extends OutboxTables, ProcessedEventTables, FailedMessageTables, MailTables, DepartureTables, IdempotencyTables
{
  accounts: {
    id: Generated<string>,
    email: string,
    name: string,
    image: string | null,
    locale: string,
    role: Generated<Role>,
    password_hash: string | null,
    email_verified_at: Date | null,
    registered_network: string,
    referral_code: string,
    banned_at: Date | null,
    expired_at: Generated<Date | null>,
    leaving_at: Generated<Date | null>,
    paused_at: Generated<Date | null>,
    person_changed_at: Date | null,
    created_at: Generated<Date>,
    updated_at: Generated<Date>
  }
  used_provider_tokens: { digest: Buffer, used_at: Generated<Date> }
  provider_links: { provider: Provider, subject: string, account_id: string, created_at: Generated<Date> }
  referrals: { account_id: string, referrer_id: string, created_at: Generated<Date> }
  subscriptions: {
    id: Generated<string>,
    account_id: string,
    plan_id: string,
    status: 'ACTIVE' | 'CANCELED' | 'EXPIRED',
    current_period_start: Date,
    current_period_end: Date
  }
  account_networks: { account_id: string, network: string, last_signed_in_at: Generated<Date> }
  password_change_attempts: { account_id: string, attempted_at: Date[], last_attempted_at: Date }
  failed_password_attempts: { source_digest: Buffer, failures: number, blocked_until: Date }
  sessions: {
    id: Generated<string>,
    account_id: string,
    device_info: string | null,
    device_name: string | null,
    platform: Platform | null,
    app_version: string | null,
    ip_address: string,
    created_at: Generated<Date>,
    last_used_at: Generated<Date>,
    ended_at: Date | null
  }
  refresh_tokens: { digest: Buffer, session_id: string, expires_at: Date, used_at: Date | null }
  refresh_responses: { digest: Buffer, encrypted_access_token: Buffer, created_at: Generated<Date> }
  signing_keys: {
    kid: string,
    encrypted_private_key: Buffer,
    public_key: ColumnType<PublicKey, string, never>,
    signs_from: Date,
    created_at: Generated<Date>
  }
  codes: {
    account_id: string,
    purpose: Purpose,
    digest: Buffer,
    attempts: Generated<number>,
    expires_at: Date
  }
  code_attempts: { account_id: string, day: string, attempts: number }
  password_resets: { account_id: string, digest: Buffer, expires_at: Date }
  mail_requests: {
    id: Generated<string>,
    kind: Purpose | 'RESET',
    email: string,
    network: string,
    created_at: Generated<Date>
  }
  security_events: {
    id: Generated<string>,
    kind: string,
    account_id: string | null,
    session_id: string | null,
    network: string | null,
    request_id: string | null,
    detail: ColumnType<object, string, never>,
    created_at: Generated<Date>
  }
  erasures: {
    id: string,
    account_id: string,
    cause: ErasureCause,
    status: Generated<ErasureStatus>,
    requested_at: Generated<Date>,
    erase_at: Date,
    announced_at: Generated<Date | null>,
    begun_at: Generated<Date | null>,
    erased_at: Generated<Date | null>,
    closed_at: Generated<Date | null>,
    canceled_at: Generated<Date | null>,
    reminded_at: Generated<Date | null>,
    hold_reason: Generated<string | null>,
    held_until: Generated<Date | null>
  }
  erasure_confirmations: {
    erasure_id: string,
    service: string,
    rows: ColumnType<Record<string, number>, string, string>,
    files: number,
    kept: number,
    sweeps_left: number,
    confirmed_at: Generated<Date>
  }
  remembered: { digest: Buffer, until: Date }
  issue_reports: { id: Generated<string>, email: string, description: string, created_at: Generated<Date> }
}

export type ErasureCause = 'OWNER' | 'LINK' | 'OPERATOR' | 'EXPIRY' | 'LEDGER'
export type ErasureStatus = 'SCHEDULED' | 'HELD' | 'RUNNING' | 'ERASED' | 'CLOSED' | 'CANCELED'
export type Role = 'USER' | 'ADMIN'
export type Provider = 'PROVIDER_A' | 'PROVIDER_B'
export type SignInMethod = 'REGISTRATION' | 'PASSWORD' | 'CODE' | Provider
export type Platform = 'android' | 'ios'
/** The purpose of a mailed code. */
export type Purpose = 'VERIFY' | 'SIGN_IN'

/** An ECDSA P-256 public key as a JSON Web Key. */
export interface PublicKey {
  kid: string
  kty: string
  crv: string
  x: string
  y: string
}

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>
