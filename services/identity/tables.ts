import type { ColumnType, Generated, Kysely, Transaction } from 'kysely'
import type Type from 'typebox'
import type { ErasureTables } from '@tandem/account-kit'
import type { OperatorTables, StaffRole } from '@tandem/operator-kit'
import type { FailedMessageTables, ProcessedEventTables, OutboxTables } from '@tandem/bus-kit'
import type { DecisionMade, Outcome, RESTRICTION_SCOPES } from '@tandem/contracts'
import type { DailyQuotaTables, IdempotencyTables } from '@tandem/database-kit'
import type { MailTables } from '@tandem/mail-kit'
import type { reasons } from './decisions/schemas.ts'

export interface Tables
  extends
    OutboxTables,
    ProcessedEventTables,
    FailedMessageTables,
    MailTables,
    ErasureTables,
    OperatorTables,
    IdempotencyTables,
    DailyQuotaTables
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
    suspended: Generated<boolean>,
    suspension_changed_at: Generated<Date | null>,
    expired_at: Generated<Date | null>,
    leaving_at: Generated<Date | null>,
    paused_at: Generated<Date | null>,
    restricted_until: Generated<Date | null>,
    person_changed_at: Date | null,
    account_token: Generated<string | null>,
    uses_sandbox: Generated<boolean>,
    created_at: Generated<Date>,
    updated_at: Generated<Date>
  }
  used_provider_tokens: { digest: Buffer, used_at: Generated<Date> }
  provider_links: { provider: Provider, subject: string, account_id: string, created_at: Generated<Date> }
  referrals: {
    account_id: string,
    referrer_id: string,
    created_at: Generated<Date>,
    decided_at: Date | null,
    is_counted: Generated<boolean>
  }
  referral_rewards: {
    id: Generated<string>,
    account_id: string,
    is_referrer: boolean,
    days: number,
    granted_at: Generated<Date>
  }
  subscriptions: {
    id: Generated<string>,
    account_id: string,
    plan_id: string,
    status: 'ACTIVE' | 'CANCELED' | 'EXPIRED',
    current_period_start: Date,
    current_period_end: Date,
    entitlements: Generated<string[]>,
    purchase_id: Generated<string | null>,
    grant_id: Generated<string | null>,
    next_grant_at: Generated<Date | null>
  }
  purchases: {
    id: Generated<string>,
    store: Store,
    environment: StoreEnvironment,
    store_key: string,
    encrypted_token: Buffer | null,
    account_id: string | null,
    plan_id: string,
    product_id: string,
    state: PurchaseState,
    will_renew: boolean,
    is_trial: boolean,
    is_family_shared: boolean,
    period_start: Date,
    period_end: Date,
    grace_end: Date | null,
    revoked_at: Date | null,
    voided_order: Generated<Buffer | null>,
    order_digest: Buffer | null,
    manage_url: string | null,
    replaces: string[],
    is_replaced: Generated<boolean>,
    known_at: Date,
    moved_at: Generated<Date[]>,
    check_at: Date | null,
    checked_at: Date | null,
    attempts: Generated<number>,
    needs_acknowledgement: boolean,
    bought_at: Date
  }
  store_notifications: {
    id: Generated<string>,
    store: Store,
    notification_id: string,
    encrypted_content: Buffer | null,
    voided_order: Buffer | null,
    received_at: Generated<Date>,
    claimed_until: Generated<Date>,
    done_at: Date | null
  }
  grants: {
    id: Generated<string>,
    account_id: string,
    plan_id: string,
    reason: GrantReason,
    given_by: string | null,
    starts_at: Date,
    ends_at: Date,
    ended_at: Date | null,
    created_at: Generated<Date>
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
    device_digest: Buffer | null,
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
    network: string | null,
    expires_at: Date
  }
  /** Only the previous version uses it. */
  code_attempts: { account_id: string, day: string, attempts: number }
  wrong_codes: {
    id: Generated<string>,
    account_id: string,
    code_digest: Buffer,
    network: string,
    is_known: boolean,
    entered_at: Generated<Date>
  }
  code_links: { digest: Buffer, account_id: string, purpose: PublicPurpose, expires_at: Date }
  proofs: {
    digest: Buffer,
    account_id: string,
    session_id: string,
    purpose: ProofPurpose,
    method: ProofMethod,
    expires_at: Date
  }
  proof_attempts: { account_id: string, attempted_at: Date[], last_attempted_at: Date }
  deletion_links: { account_id: string, digest: Buffer, expires_at: Date }
  password_resets: { account_id: string, digest: Buffer, expires_at: Date }
  mail_requests: {
    id: Generated<string>,
    kind: MailRequestKind,
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
    providers: Generated<Provider[]>,
    has_subscription: Generated<boolean>,
    manage_url: Generated<string | null>,
    hold_reason: Generated<string | null>,
    held_until: Generated<Date | null>
  }
  provider_revocations: {
    erasure_id: string,
    provider: Provider,
    token: Buffer,
    attempts: Generated<number>,
    next_attempt_at: Generated<Date>
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
  email_changes: { account_id: string, new_email: string, requested_at: Generated<Date> }
  email_reverts: {
    digest: Buffer,
    account_id: string,
    old_email: string,
    created_at: Generated<Date>,
    expires_at: Date
  }
  email_change_attempts: { account_id: string, attempted_at: Date[], last_attempted_at: Date }
  exports: {
    id: string,
    account_id: string,
    status: Generated<ExportStatus>,
    progress: Generated<number>,
    requested_at: Generated<Date>,
    attempts: Generated<number>,
    claimed_until: Generated<Date>,
    token_digest: Generated<Buffer | null>,
    bytes: Generated<number | null>,
    sha256: Generated<string | null>,
    ready_at: Generated<Date | null>,
    expires_at: Generated<Date | null>
  }
  remembered: { digest: Buffer, until: Date, restriction: Generated<Restriction> }
  decisions: {
    id: Generated<string>,
    account_id: string,
    case_service: 'social' | 'fitmatch' | null,
    case_id: string | null,
    case_version: number | null,
    subject_type: string | null,
    excerpt: string | null,
    actions: ColumnType<DecidedAction[], string, never>,
    outcome: Outcome,
    reason: DecisionReason,
    statement: string,
    note: string | null,
    is_automated: boolean,
    staff_id: string | null,
    confirmed_by: string | null,
    reverses: string | null,
    made_at: Generated<Date>
  }
  restrictions: {
    id: Generated<string>,
    account_id: string,
    scope: RestrictionScope,
    until: Date | null,
    decision_id: string,
    lifted_at: Date | null
  }
  strikes: { decision_id: string, account_id: string, created_at: Generated<Date>, removed_at: Date | null }
  decision_applications: { decision_id: string, service: string, applied_at: Generated<Date> }
  appeals: {
    /** Set if its author reported something that was dismissed. */
    report_id: Generated<string | null>,
    id: Generated<string>,
    decision_id: string,
    account_id: string,
    text: string,
    status: Generated<'OPEN' | 'UPHELD' | 'REVERSED'>,
    answer: string | null,
    staff_id: string | null,
    due_at: Generated<Date>,
    created_at: Generated<Date>,
    decided_at: Date | null
  }
  staff: {
    id: Generated<string>,
    email: string,
    role: StaffRole,
    account_id: string | null,
    disabled_at: Date | null,
    created_at: Generated<Date>,
    invited_by: Generated<string[]>
  }
  staff_invitations: { digest: Buffer, staff_id: string, expires_at: Date }
  passkeys: {
    id: string,
    staff_id: string,
    public_key: Buffer,
    counter: number,
    transports: string[],
    created_at: Generated<Date>,
    last_used_at: Date | null
  }
  passkey_challenges: { challenge: string, purpose: ChallengePurpose, staff_id: string | null, expires_at: Date }
  staff_sessions: {
    id: Generated<string>,
    digest: Buffer,
    staff_id: string,
    created_at: Generated<Date>,
    last_used_at: Generated<Date>,
    proved_at: Generated<Date>,
    ended_at: Date | null
  }
  issue_reports: { id: Generated<string>, email: string, description: string, created_at: Generated<Date> }
}

export type ErasureCause = 'OWNER' | 'LINK' | 'OPERATOR' | 'EXPIRY' | 'LEDGER'
export type ErasureStatus = 'SCHEDULED' | 'HELD' | 'RUNNING' | 'ERASED' | 'CLOSED' | 'CANCELED'
export type ExportStatus = 'PENDING' | 'RUNNING' | 'READY' | 'FAILED' | 'EXPIRED'
/** What a new account of the same person meets again. */
export type Restriction = 'BANNED' | 'SUSPENDED'
export type Role = 'USER' | 'ADMIN'
export type RestrictionScope = typeof RESTRICTION_SCOPES[number]
export type DecisionReason = typeof reasons[number]
/** An action of a decision, as it is stored and published. */
export type DecidedAction = Type.Static<typeof DecisionMade.data>['actions'][number]
export type ChallengePurpose = 'ENROLL' | 'SIGN_IN' | 'PROVE'
export type Store = 'APPLE' | 'GOOGLE' | 'REVENUECAT'
export type StoreEnvironment = 'PRODUCTION' | 'SANDBOX'
/** As the store says it; what the clock adds is in `stateAt`. */
export type PurchaseState = 'PENDING' | 'ACTIVE' | 'GRACE' | 'HOLD' | 'PAUSED' | 'EXPIRED' | 'REVOKED'
export type GrantReason = 'OPERATOR' | 'REFERRAL' | 'GIFT'
export type Provider = 'PROVIDER_A' | 'PROVIDER_B'
export type SignInMethod = 'REGISTRATION' | 'PASSWORD' | 'CODE' | Provider
export type Platform = 'android' | 'ios'
/** Codes that callers enter who are not signed in. */
export type PublicPurpose = 'VERIFY' | 'SIGN_IN'
/** The purpose of a mailed code. */
export type Purpose = PublicPurpose | 'NEW_EMAIL' | ProofPurpose
export type ProofPurpose = 'DELETE' | 'EXPORT' | 'CHANGE_EMAIL' | 'REMOVE_PROVIDER'
export type ProofMethod = 'PASSWORD' | 'CODE' | Provider
/** What callers who are not signed in can have mailed to an address. */
export type MailRequestKind = 'VERIFY' | 'SIGN_IN' | 'RESET' | 'DELETION'

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
