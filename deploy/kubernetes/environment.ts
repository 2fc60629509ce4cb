import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { mediaSigningKey } from '@tandem/media-url-kit/testing'
import { createRootKey } from '@tandem/http-kit/testing'

interface Servers {
  folder: string
  redisUrl: string
  smtpUrl: string
  publicUrl: string
  /** The URL of the load balancer of each service, by name. */
  serviceUrls: Iterable<[name: string, url: string]>
}

/** What the processes of one system share when a rehearsal runs several of each. */
export function createEnvironment (
  { folder, redisUrl, smtpUrl, publicUrl, serviceUrls }: Servers
): NodeJS.ProcessEnv {
  const rootKey = createRootKey()
  return {
    LOG_LEVEL: 'warn',
    REDIS_URL: redisUrl,
    SMTP_URL: smtpUrl,
    PUBLIC_URL: publicUrl,
    CDN_URL: `${publicUrl}/media`,
    MEDIA_DIR: path.join(folder, 'media'),
    SELFIE_DIR: path.join(folder, 'selfies'),
    LEDGER_DIR: path.join(folder, 'ledger'),
    SECRET: randomUUID(),
    MEDIA_SIGNING_KEY: mediaSigningKey,
    TRUST_PROXY: '127.0.0.1',
    IDENTITY_ROOT_PRIVATE_KEY: rootKey.privateText,
    IDENTITY_ROOT_PUBLIC_KEYS: rootKey.publicText,
    ...Object.fromEntries([...serviceUrls].map(([name, url]) => [`${name.toUpperCase()}_URL`, url]))
  }
}
