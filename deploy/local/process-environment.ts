import path from 'node:path'
import { needsRedis } from './access.ts'
import { origin } from './addresses.ts'
import { readOrCreateSecret } from './data-dir.ts'
import type { DeveloperTools } from './developer-tools.ts'
import type { Settings } from './environment.ts'
import { rootKeyOf } from './root-key.ts'
import type { Servers } from './servers.ts'

/** What the variables of a process depend on. The functions are called at each start of a process. */
interface Surroundings {
  settings: Settings
  servers: Servers
  /** The port of the gateway, and those of the other processes. */
  gatewayPort: number
  devPagePort: number
  consolePort: number
  metricsPortOf: (name: string) => number | undefined
  databaseOf: (service: string) => string | undefined
  pushEnvironment: () => DeveloperTools['pushEnvironment'] | undefined
  storeEnvironment: () => DeveloperTools['storeEnvironment'] | undefined
}

/** The variables of the gateway and of the services on this machine. */
export function createEnvironments (
  { settings, servers, gatewayPort, devPagePort, consolePort, metricsPortOf, databaseOf, ...tools }: Surroundings
) {
  const { dataDir, rest } = settings
  const rootKey = rootKeyOf(dataDir)
  const publicUrl = settings.publicUrl ?? origin(gatewayPort, settings.lanAddress ?? settings.host)
  const consoleUrl = rest['CONSOLE_URL'] ?? `http://localhost:${consolePort}`
  const addressesOf = (services: Map<string, number>) =>
    Object.fromEntries([...services].map(([name, port]) => [`${name.toUpperCase()}_URL`, origin(port)]))
  const devPageUrl = (host = settings.lanAddress) => origin(devPagePort, host)

  const common = (name: string): NodeJS.ProcessEnv => ({
    // As in the images: several threads decode images, and malloc would keep memory for each.
    MALLOC_ARENA_MAX: '2',
    MEDIA_DIR: path.join(dataDir, 'media'),
    ...rest,
    IDENTITY_ROOT_PUBLIC_KEYS: rootKey.publicKey,
    REDIS_URL: needsRedis(name) ? servers.urlOf('redis', name) : undefined,
    NATS_URL: servers.urlOf('nats', name),
    SMTP_URL: settings.smtpUrl ?? servers.mail()?.smtpUrl,
    PUBLIC_URL: publicUrl,
    CDN_URL: settings.cdnUrl ?? `${publicUrl}/media`,
    ...(settings.metrics ? { METRICS_PORT: String(metricsPortOf(name)) } : {})
  })
  const mediaSigningKey = () => ({
    MEDIA_SIGNING_KEY: rest['MEDIA_SIGNING_KEY'] ?? readOrCreateSecret(dataDir, 'media')
  })
  // The variables that a single service has.
  const ofService: Record<string, () => NodeJS.ProcessEnv | undefined> = {
    identity: () => ({
      // Memory of password hashes is kept and reused: docs/decisions/0022-memory-of-password-hashes.md.
      MALLOC_MMAP_THRESHOLD_: '33554432',
      MALLOC_TRIM_THRESHOLD_: '134217728',
      CONSOLE_URL: consoleUrl,
      LEDGER_DIR: rest['LEDGER_DIR'] ?? path.join(dataDir, 'ledger'),
      SECRET: rest['SECRET'] ?? readOrCreateSecret(dataDir, 'identity'),
      IDENTITY_ROOT_PRIVATE_KEY: rootKey.privateKey,
      ...tools.storeEnvironment()
    }),
    social: mediaSigningKey,
    fitmatch: mediaSigningKey,
    notification: tools.pushEnvironment
  }

  return {
    publicUrl,
    consoleUrl,
    devPageUrl,
    /** What commands of operators share with the services. Nothing of it is secret. */
    operatorSettings: () => ({
      CONSOLE_URL: consoleUrl,
      SUBSCRIPTION_PLANS: tools.storeEnvironment()?.['SUBSCRIPTION_PLANS'] ?? rest['SUBSCRIPTION_PLANS'],
      WEBHOOK_PRIVATE_HOSTS: rest['WEBHOOK_PRIVATE_HOSTS']
    }),
    /** The console opens no connection but to the services. */
    console: (services: Map<string, number>): NodeJS.ProcessEnv => ({
      ...rest,
      ...addressesOf(services),
      ...(settings.metrics ? { METRICS_PORT: String(metricsPortOf('console')) } : {}),
      CONSOLE_URL: consoleUrl,
      HOST: '127.0.0.1',
      PORT: String(consolePort)
    }),
    service: (name: string, port: number): NodeJS.ProcessEnv => ({
      ...common(name),
      ...ofService[name]?.(),
      DATABASE_URL: databaseOf(name),
      HOST: '127.0.0.1',
      PORT: String(port),
      // Only the gateway connects to a service; its X-Forwarded-For is trusted.
      TRUST_PROXY: '127.0.0.1'
    }),
    gateway: (services: Map<string, number>): NodeJS.ProcessEnv => ({
      ...common('gateway'),
      ...mediaSigningKey(),
      ...addressesOf(services),
      HOST: settings.host,
      PORT: String(gatewayPort),
      CORS_ORIGINS: [
        rest['CORS_ORIGINS'],
        // The sample app is on the developer page's server.
        ...new Set([devPageUrl(), devPageUrl('127.0.0.1'), devPageUrl('localhost')])
      ].filter(Boolean).join(','),
      TRUST_PROXY: settings.trustProxy
    })
  }
}
