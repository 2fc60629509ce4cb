import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** Cryptography with keys derived from SECRET. A copy of the database alone reveals nothing that it protects. */
export interface Secrets {
  /** A keyed digest that only this service can compute: of a code, or of an email address that is not stored. */
  digest(purpose: string, ...parts: string[]): Buffer
  /** Encrypts data at rest. To decrypt it, both SECRET and the same `context` are needed. */
  encrypt(plaintext: string, ...context: string[]): Buffer
  /** @throws if `encrypted` was made with another secret or another `context`, or was changed */
  decrypt(encrypted: Buffer, ...context: string[]): string
}

const IV_BYTES = 12
const TAG_BYTES = 16

export function createSecrets (secret: string): Secrets {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'tandem identity', purpose, 32))
  const encryptionKey = derive('encrypt')
  const digestKey = derive('digest')

  const digest = (purpose: string, ...parts: string[]) =>
    createHmac('sha256', digestKey).update(JSON.stringify([purpose, ...parts])).digest()
  const keyFor = (context: string[]) => context.length === 0 ? encryptionKey : digest('encrypt', ...context)

  return {
    digest,
    encrypt (plaintext, ...context) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keyFor(context), iv)
      return Buffer.concat([iv, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    decrypt (encrypted, ...context) {
      const decipher = createDecipheriv('aes-256-gcm', keyFor(context), encrypted.subarray(0, IV_BYTES))
      decipher.setAuthTag(encrypted.subarray(-TAG_BYTES))
      return Buffer.concat([decipher.update(encrypted.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString(
        'utf8'
      )
    }
  }
}
