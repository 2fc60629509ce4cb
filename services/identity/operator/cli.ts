import Type from 'typebox'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectBus, createRpcClient, type CallRpc } from '@tandem/bus-kit'
import { connect } from '@tandem/database-kit'
import { runShell } from '@tandem/operator-kit'
import { createLogger, readConfig, Url, Urls } from '@tandem/process-kit'
import { createLedger } from '../erasures/ledger.ts'
import { createPrivateStorage, StorageVariables } from '../storages.ts'
import type { Tables } from '../tables.ts'
import { SubscriptionVariables, subscriptionSettings } from '../subscriptions/settings.ts'
import { runCommand, usage } from './commands.ts'

const CONNECT_TIMEOUT_MS = 5_000

await runShell(usage, async (args) => {
  const { DATABASE_URL, NATS_URL, SECRET, CONSOLE_URL, ...settings } = readConfig(
    Type.Object({
      DATABASE_URL: Urls(),
      NATS_URL: Type.Optional(Urls()),
      SECRET: Type.Optional(Type.String({ minLength: 32 })),
      CONSOLE_URL: Type.Optional(Url()),
      ...StorageVariables,
      ...SubscriptionVariables
    })
  )
  const privateStorage = settings.LEDGER_DIR || settings.S3_ENDPOINT ? createPrivateStorage(settings) : undefined
  const ledger = privateStorage && createLedger(privateStorage)
  const log = createLogger('identity-operator')
  const db = connect<Tables>(DATABASE_URL, { log })
  const callRpc: CallRpc = async (...call) => await withBus(NATS_URL ?? '', async (client) => await client(...call))
  const subscriptions = subscriptionSettings(settings)
  const tools = {
    secret: SECRET,
    ledger,
    privateStorage,
    consoleUrl: CONSOLE_URL,
    subscriptions,
    ...(NATS_URL && { callRpc })
  }
  return await runCommand(db, tools, args).finally(async () => await db.destroy())
})

/** Connects to NATS for one call, as the identity service. */
async function withBus<Result> (url: string, work: (callRpc: CallRpc) => Promise<Result>) {
  const bus = connectBus(url, { service: 'identity', log: createLogger('identity-operator') })
  for (let waitedMs = 0; !bus.current() && waitedMs < CONNECT_TIMEOUT_MS; waitedMs += 50) await sleep(50)
  return await work(createRpcClient(bus)).finally(async () => await bus.close())
}
