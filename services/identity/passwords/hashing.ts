import argon2 from 'argon2'
import { TooBusy } from '../errors.ts'
import { createFairQueue } from './fair-queue.ts'

// 12 MiB and 3 passes: one of OWASP's equal settings, and twice the rate of 19 MiB and 2 on processors with small caches.
const SETTINGS = { type: argon2.argon2id, memoryCost: 12_288, timeCost: 3, parallelism: 1 } as const
const CONCURRENCY = 2
const MAX_WAITING = 50

/** `email` is the address whose password it is, whether or not it has an account: addresses take turns. */
export interface Hashing {
  /** @throws TooBusy */
  hash (password: string, email: string): Promise<string>
  /** Whether `password` is the one of `hash`. Without a hash it is not, after the same work. @throws TooBusy */
  matches (password: string, hash: string | null | undefined, email: string): Promise<boolean>
  /** Whether the hash was made with other settings than today's. */
  isOutdated (hash: string): boolean
}

/**
 * Argon2id on few threads: more at once would only take memory and time from each other, and from every other request.
 * One address cannot make others wait, or have them refused: however many passwords are tried for it, another's is the next but one.
 */
export async function createHashing (): Promise<Hashing> {
  const enqueue = createFairQueue({ concurrency: CONCURRENCY, maxWaiting: MAX_WAITING, createRefusal: () => new TooBusy() })
  const nobodys = await argon2.hash(crypto.randomUUID(), SETTINGS)

  return {
    hash: async (password, email) => await enqueue(email, async () => await argon2.hash(password.normalize('NFKC'), SETTINGS)),
    async matches (password, hash, email) {
      const right = await enqueue(email, async () => await argon2.verify(hash ?? nobodys, password.normalize('NFKC')))
      return right && hash != null
    },
    isOutdated: (hash) => argon2.needsRehash(hash, SETTINGS)
  }
}
