import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** What is derived from the one SECRET of the service. A copy of the database alone is of no use against any of it. */
export interface Secrets {
  /** A digest that only this service can make: of a code, or of an address that need not be kept. */
  digest (purpose: string, ...parts: string[]): Buffer
  /** Encrypts what is kept at rest. What is in `under` is needed to read it again, besides SECRET. */
  seal (plain: string, ...under: string[]): Buffer
  /** @throws when `sealed` was made under another secret or with another `under`, or changed */
  unseal (sealed: Buffer, ...under: string[]): string
}

const IV = 12
const TAG = 16

export function createSecrets (secret: string): Secrets {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'tandem identity', purpose, 32))
  const sealing = derive('seal')
  const digesting = derive('digest')

  const digest = (purpose: string, ...parts: string[]) => createHmac('sha256', digesting).update(JSON.stringify([purpose, ...parts])).digest()
  const sealingKey = (under: string[]) => under.length === 0 ? sealing : digest('seal', ...under)

  return {
    digest,
    seal (plain, ...under) {
      const iv = randomBytes(IV)
      const cipher = createCipheriv('aes-256-gcm', sealingKey(under), iv)
      return Buffer.concat([iv, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    unseal (sealed, ...under) {
      const decipher = createDecipheriv('aes-256-gcm', sealingKey(under), sealed.subarray(0, IV))
      decipher.setAuthTag(sealed.subarray(-TAG))
      return Buffer.concat([decipher.update(sealed.subarray(IV, -TAG)), decipher.final()]).toString('utf8')
    }
  }
}
