import { replaceSigningKeys, rotateSigningKeys } from '../keys/actions.ts'
import type { CallRpc } from '@tandem/bus-kit'
import type { Db } from '../tables.ts'
import { toEmail } from '../schemas.ts'
import { createSecrets } from '../secrets.ts'
import { listSecurityEventsOf } from '../security-log/queries.ts'
import { replayLedger } from '../erasures/actions.ts'
import type { Storage } from '@tandem/media-kit'
import { findAuditFault, staffRoles, UsageError } from '@tandem/operator-kit'
import { listAuditHeads } from '../staff/audit-heads.ts'
import { inviteFirstAdmin, inviteInShell, listStaff, reinviteInShell, removeInShell } from '../staff/actions.ts'
import { DEFAULT_CONSOLE_URL, readConsoleSettings } from '../staff/settings.ts'
import type { Ledger } from '../erasures/ledger.ts'
import {
  ban,
  endAllSessionsOf,
  grantSubscription,
  markSandbox,
  recheckPurchases,
  setRole,
  cancelSubscriptionOf,
  unban
} from './actions.ts'
import { holdErasure, listErasures, releaseErasure, requestErasure, showErasure } from './erasures.ts'
import { listIssues, listSessionsOf } from './queries.ts'
import { listSubscriptionOf } from './subscriptions.ts'
import { DEFAULT_SUBSCRIPTIONS, type SubscriptionSettings } from '../subscriptions/settings.ts'
import { verifyErasure } from './verify.ts'
import { cancelExportOf, listExports } from './exports.ts'

export const usage = `usage: npm run operator -- <command>, with DATABASE_URL of the identity service

  grant role <email> ADMIN|USER             set the role; ends all sessions of the account
  grant subscription <email> <plan> <days>  grant a plan from now on; replaces what was granted, never a store's
  cancel subscription <email>               end what was granted now; a store's goes on
  subscriptions list <email>                list the purchases and grants of the account, and what is derived from them
  subscriptions recheck <email>             have the stores asked now about its purchases
  mark sandbox <email> [off]                count purchases in the stores' sandboxes for this account, or no longer
  sessions list|end <email>                 list or end all sessions of the account
  ban <email>                               end all sessions and reject new ones
  unban <email>                             allow new sessions again
  security list <email>                     list the latest security events of the last 90 days
  erasures list                             list deletions of accounts that are not closed
  erasures show <id>                        show a deletion and what each service erased
  erasures request <email> [days]           schedule a deletion; 14 days by default
  erasures hold <id> <days> <reason>        stop a deletion that has not begun, for at most a year
  erasures release <id>                     end a hold
  erasures verify <id>                      have every service count again what is left; needs NATS_URL
  erasures replay                           erase again what a restored backup brought back; needs LEDGER_DIR or S3_*
  exports list                              list the copies that are being made or can be downloaded
  exports cancel <id>                       stop a copy, or end its link
  staff invite <email> <role>               add an operator: SUPPORT, MODERATOR or ADMIN; prints a link for 24 hours
  staff invite-first <email>                the same for an administrator, as long as no operator has a passkey
  staff reinvite <email>                    let an operator replace a lost passkey; prints a link
  staff remove <email>                      end all sessions of an operator and refuse new ones
  staff list                                list the operators
  staff audit                               recompute the audit, and compare it with the ends that were stored each day; needs LEDGER_DIR or S3_*
  issues list                               list the latest reported problems
  keys rotate                               add a signing key that takes over in 15 minutes; needs SECRET
  keys replace                              add a signing key that takes over now, when SECRET was lost; needs the new SECRET`

/** Runs an operator command. @returns the message or the rows to print */
export async function runCommand (
  db: Db,
  { secret, ledger, privateStorage, callRpc, consoleUrl = DEFAULT_CONSOLE_URL, subscriptions = DEFAULT_SUBSCRIPTIONS }:
    {
      secret?: string | undefined,
      ledger?: Ledger | undefined,
      privateStorage?: Storage | undefined,
      callRpc?: CallRpc,
      consoleUrl?: string | undefined,
      subscriptions?: SubscriptionSettings
    },
  [command, object, ...rest]: string[]
): Promise<string | object[]> {
  // An address, or the id of a deletion or a copy.
  const [target, ...more] = rest
  const console = readConsoleSettings(consoleUrl)
  const subscriptionDeps = { subscriptions, clock: () => new Date() }
  switch (`${command} ${object}`) {
    case 'grant role': {
      const [role] = more
      if (role !== 'ADMIN' && role !== 'USER') throw new UsageError()
      await setRole(db, addressOf(target), role)
      return `${target} has the role ${role} from the next sign-in`
    }
    case 'grant subscription': {
      const [planId, days = ''] = more
      if (!/^[1-9]\d{0,4}$/.test(days)) throw new UsageError()
      await grantSubscription({ db, ...subscriptionDeps }, addressOf(target), {
        planId: required(planId),
        days: Number(days)
      })
      return `${target} has ${planId} for ${days} days`
    }
    case 'cancel subscription':
      return await cancelSubscriptionOf({ db, ...subscriptionDeps }, addressOf(target))
        ? `The subscription of ${target} is canceled`
        : `${target} has no active subscription`
    case 'subscriptions list':
      return await listSubscriptionOf({ db, ...subscriptionDeps }, required(target))
    case 'subscriptions recheck':
      return `The stores are asked about ${await recheckPurchases(db, addressOf(target))} purchases of ${target}`
    case 'mark sandbox': {
      const [off] = more
      if (off !== undefined && off !== 'off') throw new UsageError()
      await markSandbox({ db, ...subscriptionDeps }, addressOf(target), off === undefined)
      return `Purchases in a sandbox ${off ? 'no longer count' : 'count'} for ${target}`
    }
    case 'sessions list':
      return await listSessionsOf(db, required(target))
    case 'sessions end':
      return `${await endAllSessionsOf(db, addressOf(target))} sessions ended`
    case 'security list':
      return await listSecurityEventsOf(db, required(target))
    case 'erasures list':
      return await listErasures(db)
    case 'erasures show':
      return await showErasure(db, required(target))
    case 'erasures request': {
      const [days = '14'] = more
      if (!/^\d{1,2}$/.test(days)) throw new UsageError()
      const { id, eraseAt } = await requestErasure(db, addressOf(target), Number(days))
      return `${target} will be erased at ${eraseAt.toISOString()}; the deletion is ${id}`
    }
    case 'erasures hold': {
      const [days = '', ...reason] = more
      if (!/^[1-9]\d{0,2}$/.test(days) || reason.length === 0) throw new UsageError()
      await holdErasure(db, required(target), { days: Number(days), reason: reason.join(' ') })
      return 'The deletion is held'
    }
    case 'erasures release':
      await releaseErasure(db, required(target))
      return 'The deletion goes on'
    case 'erasures replay':
      if (!ledger) throw new Error('LEDGER_DIR is missing')
      return `${await replayLedger({ db, ledger })} erasures run again`
    case 'erasures verify':
      if (!callRpc) throw new Error('NATS_URL is missing')
      return await verifyErasure(db, callRpc, required(target))
    case 'exports list':
      return await listExports(db)
    case 'exports cancel':
      await cancelExportOf(db, required(target))
      return 'The copy is canceled'
    case 'staff invite': {
      const role = staffRoles.find((each) => each === more[0])
      if (!role) throw new UsageError()
      return await inviteInShell({ db, console }, { email: required(target), role })
    }
    case 'staff invite-first':
      return await inviteFirstAdmin({ db, console }, required(target)) ?? 'There is an operator with a passkey already'
    case 'staff reinvite':
      return await reinviteInShell({ db, console }, required(target))
    case 'staff remove':
      await removeInShell(db, required(target))
      return `${target} is no operator any more`
    case 'staff list':
      return await listStaff(db)
    case 'staff audit':
      return await verifyAudit(db, privateStorage)
    case 'issues list':
      return await listIssues(db)
    case 'keys rotate':
      await rotateSigningKeys(db, secretsOf(secret))
      return 'The new key starts to sign in 15 minutes'
    case 'keys replace':
      await replaceSigningKeys(db, secretsOf(secret))
      return 'The new key signs now. Restart the identity service with this SECRET'
  }
  switch (command) {
    case 'ban':
      await ban(db, addressOf(object))
      return `${object} is banned`
    case 'unban':
      return await unban(db, addressOf(object)) ? `${object} is no longer banned` : `${object} was not banned`
  }
  throw new UsageError()
}

async function verifyAudit (db: Db, privateStorage: Storage | undefined) {
  if (!privateStorage) throw new Error('LEDGER_DIR is missing')
  const heads = await listAuditHeads(privateStorage)
  const fault = await findAuditFault(db, heads)
  if (fault !== undefined) throw new Error(`The audit was changed: ${fault}`)
  return `The audit is complete, and contains ${heads.length} stored ends`
}

function required (argument: string | undefined) {
  if (!argument) throw new UsageError()
  return argument
}

const addressOf = (argument: string | undefined) => ({ email: toEmail(required(argument)) })

function secretsOf (secret: string | undefined) {
  if (!secret) throw new Error('SECRET is missing')
  return createSecrets(secret)
}
