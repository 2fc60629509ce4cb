import argon2 from 'argon2'
import { createFairQueue } from '@tandem/process-kit'
import { TooBusy } from '../errors.ts'

interface HashSettings {
  type: typeof argon2.argon2id
  /** In KiB. */
  memoryCost: number
  timeCost: number
  parallelism: number
}

// 12 MiB and 3 passes: one of OWASP's equivalent settings, and twice as fast as 19 MiB and 2 passes on processors with
// small caches.
const SETTINGS = { type: argon2.argon2id, memoryCost: 12_288, timeCost: 3, parallelism: 1 } satisfies HashSettings
const CONCURRENCY = 2
// About two seconds of hashing.
const MAX_WAITING = 150

/** `email` is the address that the password belongs to, whether or not it has an account. Addresses take turns. */
export interface Hashing {
  /** @throws TooBusy */
  hash(password: string, email: string): Promise<string>
  /** Whether `password` matches `hash`. Without a hash it does the same work and returns false. @throws TooBusy */
  matches(password: string, hash: string | null | undefined, email: string): Promise<boolean>
  /** Whether the hash was made with other than the current settings. */
  isOutdated(hash: string): boolean
}

/**
 * Argon2id on few threads: more at once would only take memory and time from each other and from every other request.
 * One address cannot delay or reject the passwords of others: however many are tried for it, another address is next
 * but one.
 * @param settings those of tests cost less
 */
export async function createHashing (settings: HashSettings = SETTINGS): Promise<Hashing> {
  const enqueue = createFairQueue({
    concurrency: CONCURRENCY,
    maxWaiting: MAX_WAITING,
    createError: () => new TooBusy()
  })
  const dummyHash = await argon2.hash(crypto.randomUUID(), settings)

  return {
    hash: async (password, email) =>
      await enqueue(email, async () => await argon2.hash(password.normalize('NFKC'), settings)),
    async matches (password, hash, email) {
      const isMatch = await enqueue(
        email,
        async () => await argon2.verify(hash ?? dummyHash, password.normalize('NFKC'))
      )
      return isMatch && hash != null
    },
    isOutdated: (hash) => argon2.needsRehash(hash, settings)
  }
}
