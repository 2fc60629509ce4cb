import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** What is derived from the one SECRET of the service. A copy of the database alone is of no use against any of it. */
export interface Secrets {
  /** A digest that only this service can make: of a code, or of an address that need not be kept. */
  digest (purpose: string, ...parts: string[]): Buffer
  /** Encrypts what is kept at rest. */
  seal (plain: string): Buffer
  /** @throws when `sealed` was made under another secret, or changed */
  unseal (sealed: Buffer): string
}

const IV = 12
const TAG = 16

export function createSecrets (secret: string): Secrets {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'tandem identity', purpose, 32))
  const sealing = derive('seal')
  const digesting = derive('digest')

  return {
    digest: (purpose, ...parts) => createHmac('sha256', digesting).update(JSON.stringify([purpose, ...parts])).digest(),
    seal (plain) {
      const iv = randomBytes(IV)
      const cipher = createCipheriv('aes-256-gcm', sealing, iv)
      return Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    unseal (sealed) {
      const decipher = createDecipheriv('aes-256-gcm', sealing, sealed.subarray(0, IV))
      decipher.setAuthTag(sealed.subarray(-TAG))
      return Buffer.concat([decipher.update(sealed.subarray(IV, -TAG)), decipher.final()]).toString('utf8')
    }
  }
}
