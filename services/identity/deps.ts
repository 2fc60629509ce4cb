import type { Resources } from '@tandem/service-kit'
import type Type from 'typebox'
import { providerSettings, type Config } from './config.ts'
import type { Departures } from '@tandem/account-kit'
import type { CallRpc } from '@tandem/bus-kit'
import { createMailer, type Mailer } from '@tandem/mail-kit'
import type { Storage } from '@tandem/media-kit'
import { readFourEyes, type ProposalKind } from '@tandem/operator-kit'
import { createIdentityDepartures } from './departures.ts'
import { createLedger, type Ledger } from './erasures/ledger.ts'
import { ensureSigningKey } from './keys/actions.ts'
import { createKeySetSigner, readRootPrivateKey, type SignKeySet } from './keys/signed-keys.ts'
import { createIssuers, type IssueOperatorToken, type IssueToken } from './keys/tokens.ts'
import { createMailRequests, type MailRequests } from './mails/requests.ts'
import { createBlocklist, type Blocklist } from './passwords/blocklist.ts'
import { createHashing, type Hashing } from './passwords/hashing.ts'
import { createVerifier, type VerifyToken } from './providers/tokens.ts'
import { createFileReader, createPrivateStorage, type ReadFile } from './storages.ts'
import { readConsoleSettings, type ConsoleSettings } from './staff/settings.ts'
import type { Db, Provider, Tables } from './tables.ts'
import { createSecrets, type Secrets } from './secrets.ts'

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
  ledger: Ledger
  /** Nothing in it is ever served by its key. */
  privateStorage: Storage
  readFile: ReadFile
  departures: Departures
  /** The public URL of this installation. */
  publicUrl: string
  issueOperatorToken: IssueOperatorToken
  console: ConsoleSettings
  /** What needs two operators. */
  fourEyes: ReadonlySet<ProposalKind>
  /** How many days a person can cancel the deletion of their account. */
  graceDays: number
}

/** @throws ConfigError */
export async function createDeps (
  { config, db, callRpc, log, onClose }: Resources<Type.Static<typeof Config>, Tables>
): Promise<Deps> {
  const { REDIS_URL, SMTP_URL, MAIL_FROM, PUBLIC_URL } = config
  const rootKey = readRootPrivateKey(config.IDENTITY_ROOT_PRIVATE_KEY, config.IDENTITY_ROOT_PUBLIC_KEYS)
  const providers = {
    PROVIDER_A: createVerifier(providerSettings(config, 'PROVIDER_A')),
    PROVIDER_B: createVerifier(providerSettings(config, 'PROVIDER_B'))
  }

  const secrets = createSecrets(config.SECRET)
  await ensureSigningKey(db, secrets)

  const mailer = createMailer({ db, service: 'identity', smtpUrl: SMTP_URL, redisUrl: REDIS_URL, from: MAIL_FROM, log })
  onClose(() => mailer.close())
  const mailRequests = createMailRequests({ db, secrets, mailer, redisUrl: REDIS_URL, publicUrl: PUBLIC_URL, log })
  onClose(() => mailRequests.close())

  const privateStorage = createPrivateStorage(config)
  return {
    db,
    callRpc,
    secrets,
    hashing: await createHashing(),
    blocklist: createBlocklist(config.PASSWORD_BLOCKLIST),
    ...createIssuers(db, secrets),
    console: readConsoleSettings(config.CONSOLE_URL),
    fourEyes: readFourEyes(config.FOUR_EYES),
    signKeySet: createKeySetSigner(db, rootKey),
    providers,
    mailer,
    mailRequests,
    ledger: createLedger(privateStorage),
    privateStorage,
    readFile: createFileReader(config),
    departures: createIdentityDepartures({ db, secrets, mailer, privateStorage }),
    publicUrl: PUBLIC_URL,
    graceDays: config.DELETION_GRACE_DAYS
  }
}

/** Starts the workers of the queues; closing the queues stops them. */
export function startQueues ({ mailer, mailRequests }: Deps) {
  mailer.start()
  mailRequests.start()
}
