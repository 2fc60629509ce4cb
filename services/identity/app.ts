import { createServer, type ServerOptions } from '@tandem/http-kit'
import { serveOperators, serveProposals } from '@tandem/operator-kit'
import {
  handleAccounts,
  handleAccountsByToken,
  handleAddressOwner,
  handleAddressVerified,
  handleContact,
  handleMembership
} from './accounts/rpc.ts'
import { onPersonChanged } from './accounts/consumers.ts'
import { accountRoutes } from './accounts/routes.ts'
import { addressRoutes } from './address/routes.ts'
import type { Deps, RouteDeps } from './deps.ts'
import { onAccountErased } from './erasures/consumers.ts'
import { erasureRoutes } from './erasures/routes.ts'
import { handleHiddenOrErased } from './erasures/rpc.ts'
import { exportRoutes } from './exports/routes.ts'
import { issueRoutes } from './issues/routes.ts'
import { handleSigningKeys } from './keys/rpc.ts'
import { keyRoutes } from './keys/routes.ts'
import { createIssuers } from './keys/tokens.ts'
import { deletionRoutes } from './deletion/routes.ts'
import { pauseRoutes } from './pause/routes.ts'
import { passwordRoutes } from './passwords/routes.ts'
import { proofRoutes } from './proofs/routes.ts'
import { providerLinkRoutes } from './provider-links/routes.ts'
import { providerRoutes } from './providers/routes.ts'
import { referralRoutes } from './referrals/routes.ts'
import { registrationRoutes } from './registration/routes.ts'
import { onOperatorActed } from './security-log/consumers.ts'
import { appealRoutes } from './appeals/routes.ts'
import { confirmBan, withdrawBan } from './decisions/bans.ts'
import { onFitMatchDecisionApplied, onSocialDecisionApplied, onSuspensionDecided } from './decisions/consumers.ts'
import { decisionRoutes } from './decisions/routes.ts'
import { confirmErasure, confirmHold, withdrawHold } from './operator/erasure-proposals.ts'
import { erasureOperatorRoutes } from './operator/erasure-routes.ts'
import { subscriptionOperatorRoutes } from './operator/subscription-routes.ts'
import { peopleOperatorRoutes } from './operator/people-routes.ts'
import { confirmStaffChange } from './staff/changes.ts'
import { onWebhookDisabled } from './staff/consumers.ts'
import { staffRoutes, staffSessionRoutes } from './staff/routes.ts'
import { trackRequests } from './security-log/requests.ts'
import { onSuspensionChanged } from './remembered/consumers.ts'
import { purchaseRoutes } from './purchases/routes.ts'
import { subscriptionRoutes } from './subscriptions/routes.ts'
import { webhookRoutes } from './webhooks/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { signInRoutes } from './sign-in/routes.ts'

const routes = [
  registrationRoutes,
  signInRoutes,
  providerRoutes,
  sessionRoutes,
  passwordRoutes,
  accountRoutes,
  proofRoutes,
  addressRoutes,
  providerLinkRoutes,
  referralRoutes,
  issueRoutes,
  erasureRoutes,
  deletionRoutes,
  pauseRoutes,
  exportRoutes,
  subscriptionRoutes,
  purchaseRoutes,
  webhookRoutes,
  keyRoutes,
  staffSessionRoutes,
  staffRoutes,
  peopleOperatorRoutes,
  subscriptionOperatorRoutes,
  erasureOperatorRoutes,
  decisionRoutes,
  appealRoutes
]
const consumers = [
  onPersonChanged,
  onOperatorActed,
  onSocialDecisionApplied,
  onFitMatchDecisionApplied,
  onSuspensionChanged,
  onSuspensionDecided,
  onWebhookDisabled
]
const rpcHandlers = [
  handleSigningKeys,
  handleAccounts,
  handleContact,
  handleAccountsByToken,
  handleAddressOwner,
  handleMembership,
  handleAddressVerified,
  handleHiddenOrErased
]

export async function createApp (deps: Deps, options: Omit<ServerOptions, 'name'>) {
  const app = await createServer({ name: 'identity', acceptsRestricted: true, ...options })
  await serveOperators(app, deps.db)
  await serveProposals(app, {
    db: deps.db,
    handlers: {
      BAN: {
        confirm: async (operator, proposal, requestId) => await confirmBan(deps, operator, proposal, requestId),
        withdraw: withdrawBan
      },
      ERASE: { confirm: async (operator, proposal) => await confirmErasure(deps, operator, proposal) },
      HOLD: {
        confirm: async (operator, proposal) => await confirmHold(deps, operator, proposal),
        withdraw: withdrawHold
      },
      STAFF: {
        confirm: async (operator, proposal, requestId) => await confirmStaffChange(deps, operator, proposal, requestId)
      }
    }
  })
  trackRequests(app)
  const routeDeps: RouteDeps = { ...deps, ...createIssuers(app, deps) }
  for (const each of routes) await app.register(each, routeDeps)
  return app
}

/** The handlers of all events that this service consumes. */
export const createHandlers = (deps: Deps) => [...consumers.map((each) => each(deps)), ...onAccountErased(deps)]

/** The handlers of all RPCs that this service provides. */
export const createRpcHandlers = (deps: Deps) => rpcHandlers.map((each) => each(deps))
