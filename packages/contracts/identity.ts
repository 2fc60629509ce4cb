import Type from 'typebox'
import { defineEvent, defineRpc } from './definitions.ts'
import { Id, Nullable, Timestamp } from './schemas.ts'

export const AccountRegistered = defineEvent('identity.account.registered.v1', Type.Object({
  accountId: Id,
  name: Type.String(),
  /** Read by profile services that do not make usernames by themselves yet; it tells nothing of the person. */
  usernameSeed: Type.String(),
  locale: Type.String(),
  /** The picture that a provider told of. */
  image: Type.Optional(Nullable(Type.String()))
}))

export const AccountVerified = defineEvent('identity.account.verified.v1', Type.Object({ accountId: Id }))

export const PasswordChanged = defineEvent('identity.password.changed.v1', Type.Object({
  accountId: Id,
  /** CLEARED: whoever proved to own the address did not set it, so it was taken away. */
  how: Type.Enum(['INITIAL', 'CHANGED', 'RESET', 'CLEARED'])
}))

export const SessionStarted = defineEvent('identity.session.started.v1', Type.Object({
  accountId: Id,
  sessionId: Id,
  method: Type.Enum(['REGISTRATION', 'PASSWORD', 'CODE', 'PROVIDER_A', 'PROVIDER_B']),
  /** Whether this account has signed in before, and never from this device. */
  newDevice: Type.Boolean(),
  deviceName: Nullable(Type.String()),
  platform: Nullable(Type.String())
}))

export const SessionsEnded = defineEvent('identity.sessions.ended.v1', Type.Object({
  accountId: Id,
  sessionIds: Type.Array(Id)
}))

export const SubscriptionChanged = defineEvent('identity.subscription.changed.v1', Type.Object({
  accountId: Id,
  planId: Type.String(),
  status: Type.Enum(['ACTIVE', 'CANCELED', 'EXPIRED']),
  currentPeriodStart: Timestamp,
  currentPeriodEnd: Timestamp
}))

const ofAccount = Type.Object({ accountId: Id })

/** The public keys that access tokens are verified with, signed by identity's root key: `createVerifiedKeyFetcher` of service-kit reads them. */
export const SigningKeys = defineRpc('identity.signing-keys.v2', {
  request: Type.Object({}),
  response: Type.String()
})

/** What a profile begins with, of accounts whose registration was not heard of yet; those that do not exist are left out. */
export const Accounts = defineRpc('identity.accounts.v1', {
  request: Type.Object({ accountIds: Type.Array(Id, { maxItems: 100 }) }),
  response: Type.Array(Type.Object({ accountId: Id, name: Type.String(), image: Nullable(Type.String()), locale: Type.String() }))
})

/** Where and in which language to write to a person; null when there is no such account. */
export const Contact = defineRpc('identity.contact.v1', {
  request: ofAccount,
  response: Nullable(Type.Object({ email: Type.String(), emailVerified: Type.Boolean(), name: Type.String(), locale: Type.String() }))
})

/** How long and as which number an account has been a member (the first is 1); null when there is no such account. */
export const Membership = defineRpc('identity.membership.v1', {
  request: ofAccount,
  response: Nullable(Type.Object({ since: Timestamp, number: Type.Integer({ minimum: 1 }) }))
})

/** Whether the address of an account is verified, which it stays for ever; false when there is no such account. */
export const AddressVerified = defineRpc('identity.address-verified.v1', {
  request: ofAccount,
  response: Type.Boolean()
})
