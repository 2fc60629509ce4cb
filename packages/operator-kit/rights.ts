import { Forbidden } from '@tandem/http-kit'
import { ProofRequired } from './errors.ts'

export const staffRoles = ['SUPPORT', 'MODERATOR', 'ADMIN'] as const
export type StaffRole = typeof staffRoles[number]

interface Grant {
  roles: readonly StaffRole[]
  /** Whether the operator must have used their passkey within ten minutes. */
  needsProof?: true
}

const everybody = staffRoles
const support: StaffRole[] = ['SUPPORT', 'ADMIN']
const moderators: StaffRole[] = ['MODERATOR', 'ADMIN']
const admins: StaffRole[] = ['ADMIN']

/** Who may do what. It is the only such table. */
export const rights = {
  'health.read': { roles: everybody },
  'people.read': { roles: everybody },
  'people.contact': { roles: support },
  'sessions.end': { roles: support },
  'providers.remove': { roles: support },
  'subscriptions.read': { roles: support },
  'subscriptions.grant': { roles: support, needsProof: true },
  'deliveries.read': { roles: support },
  'mails.read': { roles: support },
  'issues.read': { roles: support },
  'erasures.read': { roles: support },
  'cases.read': { roles: moderators },
  'cases.decide': { roles: moderators },
  'verifications.decide': { roles: moderators },
  'appeals.decide': { roles: moderators },
  'restrictions.long': { roles: admins },
  'restricted-files.read': { roles: admins },
  'bans.make': { roles: admins, needsProof: true },
  'erasures.change': { roles: admins, needsProof: true },
  'holds.change': { roles: admins, needsProof: true },
  'proposals.read': { roles: admins },
  'proposals.decide': { roles: admins, needsProof: true },
  'staff.read': { roles: admins },
  'staff.change': { roles: admins, needsProof: true },
  'broadcasts.read': { roles: admins },
  'broadcasts.send': { roles: admins, needsProof: true },
  'producers.read': { roles: admins },
  'producers.change': { roles: admins, needsProof: true },
  'options.change': { roles: admins },
  'dead-letters.read': { roles: admins },
  'dead-letters.change': { roles: admins, needsProof: true },
  'webhooks.read': { roles: admins },
  'webhooks.change': { roles: admins, needsProof: true },
  'audit.read': { roles: admins }
} as const satisfies Record<string, Grant>
export type Right = keyof typeof rights

/** An operator, as their token describes them. */
export interface Operator {
  id: string
  role: StaffRole
  /** Their session in identity. */
  sessionId: string
  /** Their own account in the app, if it is known: nobody decides about themselves. */
  accountId: string | null
  /** When they used their passkey last. */
  provedAt: Date
  /** The operators who invited them, or let them in again. The shell is nobody. */
  invitedBy: string[]
  /** Whether their passkey is old enough to confirm what others propose. */
  canConfirm: boolean
}

const PROOF_LIFETIME_MS = 10 * 60_000

export const hasRole = ({ role }: Pick<Operator, 'role'>, right: Right) =>
  (rights[right].roles as readonly StaffRole[]).includes(role)

/** Every right of a role, for those who show what an operator can do. */
export const rightsOf = (role: StaffRole) =>
  (Object.keys(rights) as Right[]).filter((right) => hasRole({ role }, right))

/** @throws Forbidden, ProofRequired */
export function requireRight (operator: Operator, right: Right) {
  if (!hasRole(operator, right)) throw new Forbidden()
  const { needsProof }: Grant = rights[right]
  if (needsProof && Date.now() - operator.provedAt.getTime() > PROOF_LIFETIME_MS) throw new ProofRequired()
}
