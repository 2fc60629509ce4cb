import type { CallRpc } from '@tandem/bus-kit'
import type { Mailer } from '@tandem/mail-kit'
import type { SignKeySet } from './keys/signed-keys.ts'
import type { IssueToken } from './keys/tokens.ts'
import type { MailRequests } from './mails/requests.ts'
import type { Blocklist } from './passwords/blocklist.ts'
import type { Hashing } from './passwords/hashing.ts'
import type { VerifyToken } from './providers/tokens.ts'
import type { Db, Provider } from './tables.ts'
import type { Secrets } from './secrets.ts'

/** The dependencies of every feature. */
export interface Deps {
  db: Db
  callRpc: CallRpc
  secrets: Secrets
  hashing: Hashing
  blocklist: Blocklist
  issueToken: IssueToken
  signKeySet: SignKeySet
  providers: Record<Provider, VerifyToken>
  mailer: Mailer
  mailRequests: MailRequests
}
