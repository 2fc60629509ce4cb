import Type from 'typebox'
import { defineEvent, defineRpc } from './definitions.ts'
import { Id, Nullable, Outcome, Timestamp } from './schemas.ts'

export const AccountRegistered = defineEvent(
  'identity.account.registered.v1',
  Type.Object({
    accountId: Id,
    name: Type.String(),
    /**
     * For versions of the profile service that do not generate usernames. It reveals nothing about the person.
     */
    usernameSeed: Type.String(),
    locale: Type.String(),
    /** The picture from the sign-in provider. */
    image: Type.Optional(Nullable(Type.String()))
  })
)

export const AccountVerified = defineEvent('identity.account.verified.v1', Type.Object({ accountId: Id }))

/** Somebody who registered with another person's code has verified their address. Both have got days of premium, or 0. */
export const ReferralCounted = defineEvent(
  'identity.referral.counted.v1',
  Type.Object({
    referrerId: Id,
    referredId: Id,
    referrerDays: Type.Integer({ minimum: 0 }),
    referredDays: Type.Integer({ minimum: 0 })
  })
)

export const PasswordChanged = defineEvent(
  'identity.password.changed.v1',
  Type.Object({
    accountId: Id,
    /** CLEARED: the password was removed, because the person who verified the address had not set it. */
    how: Type.Enum(['INITIAL', 'CHANGED', 'RESET', 'CLEARED'])
  })
)

export const SessionStarted = defineEvent(
  'identity.session.started.v1',
  Type.Object({
    accountId: Id,
    sessionId: Id,
    method: Type.Enum(['REGISTRATION', 'PASSWORD', 'CODE', 'PROVIDER_A', 'PROVIDER_B']),
    /** True if the account has signed in before, but never from this device. */
    newDevice: Type.Boolean(),
    deviceName: Nullable(Type.String()),
    platform: Nullable(Type.String())
  })
)

export const SessionsEnded = defineEvent(
  'identity.sessions.ended.v1',
  Type.Object({
    accountId: Id,
    sessionIds: Type.Array(Id)
  })
)

/** What a plan can unlock. Services ask for one of these, never for a plan. */
export const ENTITLEMENTS = ['unlimited_swipes', 'see_likes'] as const
export type Entitlement = typeof ENTITLEMENTS[number]

export const SubscriptionChanged = defineEvent(
  'identity.subscription.changed.v1',
  Type.Object({
    accountId: Id,
    planId: Type.String(),
    status: Type.Enum(['ACTIVE', 'CANCELED', 'EXPIRED']),
    currentPeriodStart: Timestamp,
    /** Until when the plan unlocks what it does, with the days that a store gives to pay. */
    currentPeriodEnd: Timestamp,
    /** What it unlocks while it is active. Events of earlier versions have none: those plans unlock everything. */
    entitlements: Type.Optional(Type.Array(Type.String()))
  })
)

/** What a person should know about a purchase. Each is published once for a purchase and a period. */
export const SubscriptionNotice = defineEvent(
  'identity.subscription.notice.v1',
  Type.Object({
    accountId: Id,
    /** MOVED: to another account; RECEIVED: from another account; BILLED_TWICE: two stores bill at the same time. */
    kind: Type.Enum(['BEGUN', 'PAYMENT_FAILED', 'ENDED', 'REFUNDED', 'MOVED', 'RECEIVED', 'BILLED_TWICE']),
    planId: Type.String(),
    /** Names the purchase, the period and the kind: a repeat has the same. */
    key: Type.String()
  })
)

/** An account at a provider, whose address is that of the account here, signs in to it from now on. */
export const ProviderLinked = defineEvent(
  'identity.provider.linked.v1',
  Type.Object({ accountId: Id, provider: Type.Enum(['PROVIDER_A', 'PROVIDER_B']) })
)

/** The erasure of an account has begun. Every service erases what it holds of it. */
export const AccountErasing = defineEvent(
  'identity.account.erasing.v1',
  Type.Object({ erasureId: Id, accountId: Id })
)

/** Whether a person is hidden from everybody else, because their account is paused, banned, or about to be erased. */
export const PersonHidden = defineEvent(
  'identity.person.hidden.v1',
  Type.Object({ accountId: Id, hidden: Type.Boolean() })
)

/** A new account belongs to somebody whose erased account was suspended. The suspension goes on. */
export const SuspensionContinued = defineEvent(
  'identity.suspension.continued.v1',
  Type.Object({ accountId: Id })
)

export const DECISION_ACTIONS = [
  'DISMISS',
  'HIDE_CONTENT',
  'RESTORE_CONTENT',
  'REMOVE_PHOTO',
  'WARN',
  'RESTRICT',
  'BAN',
  'LIFT'
] as const
export const RESTRICTION_SCOPES = ['POSTING', 'FITMATCH', 'ALL'] as const

/**
 * An operator, or the service itself, decided about an account. Events of one account arrive in the order of the
 * decisions, by their sequence.
 */
export const DecisionMade = defineEvent(
  'identity.decision.made.v1',
  Type.Object({
    decisionId: Id,
    accountId: Id,
    /** The case that it decides, or the one of the decision that it reverses. */
    case: Nullable(Type.Object({ service: Type.Enum(['social', 'fitmatch']), id: Id })),
    actions: Type.Array(Type.Object({
      type: Type.Enum(DECISION_ACTIONS),
      /** Of RESTRICT and LIFT. */
      scope: Nullable(Type.Enum(RESTRICTION_SCOPES)),
      /** Of RESTRICT; null until an operator lifts it. */
      until: Nullable(Timestamp),
      /** Of REMOVE_PHOTO. */
      photoId: Nullable(Id)
    })),
    /** Every restriction that holds after it; of several in one scope, the one that ends last. */
    restrictions: Type.Optional(Type.Array(Type.Object({
      scope: Type.Enum(RESTRICTION_SCOPES),
      until: Nullable(Timestamp)
    }))),
    outcome: Outcome,
    /** Whether no person decided it. */
    automated: Type.Boolean(),
    madeAt: Timestamp
  })
)

const ofAccount = Type.Object({ accountId: Id })

/**
 * The public keys that access tokens are verified with, signed by identity's root key: `createVerifiedKeyFetcher` of
 * http-kit reads them.
 */
export const SigningKeys = defineRpc('identity.signing-keys.v2', {
  request: Type.Object({}),
  response: Type.String()
})

/**
 * The initial data of a profile, for accounts whose registration event has not arrived yet. Unknown accounts are
 * omitted.
 */
export const Accounts = defineRpc('identity.accounts.v1', {
  request: Type.Object({ accountIds: Type.Array(Id, { maxItems: 100 }) }),
  response: Type.Array(
    Type.Object({ accountId: Id, name: Type.String(), image: Nullable(Type.String()), locale: Type.String() })
  )
})

/** The address and language for mails to a person; null for an unknown account. */
export const Contact = defineRpc('identity.contact.v1', {
  request: ofAccount,
  response: Nullable(
    Type.Object({ email: Type.String(), emailVerified: Type.Boolean(), name: Type.String(), locale: Type.String() })
  )
})

/** The account whose verified address it is, and whether its owner is banned or leaving; null if no account has it. */
export const AddressOwner = defineRpc('identity.address-owner.v1', {
  request: Type.Object({ email: Type.String() }),
  response: Nullable(Type.Object({ accountId: Id, isBannedOrLeaving: Type.Boolean() }))
})

/** The accounts that stores and other systems know by these random names; unknown names are left out. */
export const AccountsByToken = defineRpc('identity.accounts-by-token.v1', {
  request: Type.Object({ accountTokens: Type.Array(Id, { maxItems: 500 }) }),
  response: Type.Array(Type.Object({ accountToken: Id, accountId: Id }))
})

/** Since when an account is a member, and its member number (the first is 1); null for an unknown account. */
export const Membership = defineRpc('identity.membership.v1', {
  request: ofAccount,
  response: Nullable(Type.Object({ since: Timestamp, number: Type.Integer({ minimum: 1 }) }))
})

/** Whether the address of an account is verified. It stays verified forever; false for an unknown account. */
export const AddressVerified = defineRpc('identity.address-verified.v1', {
  request: ofAccount,
  response: Type.Boolean()
})

/**
 * The accounts that are hidden or erased, in the order of their ids. Every service compares them with its own table, so
 * an event that is lost changes nothing. `after` is the `next` of the previous page.
 */
export const HiddenOrErased = defineRpc('identity.departures.v1', {
  request: Type.Object({ after: Nullable(Id) }),
  response: Type.Object({
    /** When identity read them. */
    at: Timestamp,
    departures: Type.Array(
      Type.Object({
        accountId: Id,
        isHidden: Type.Boolean(),
        /** Set once the erasure has begun, and for as long as a backup may still contain the account. */
        erasureId: Nullable(Id)
      })
    ),
    next: Nullable(Id)
  })
})
