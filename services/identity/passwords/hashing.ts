import argon2 from 'argon2'
import pLimit from 'p-limit'
import { TooBusy } from '../errors.ts'

// 12 MiB and 3 passes: one of OWASP's equal settings, and twice the rate of 19 MiB and 2 on processors with small caches.
const SETTINGS = { type: argon2.argon2id, memoryCost: 12_288, timeCost: 3, parallelism: 1 } as const
const AT_ONCE = 2
const QUEUE = 50

export interface Hashing {
  /** @throws TooBusy rather than let a crowd wait */
  hash (password: string): Promise<string>
  /** Whether `password` is the one of `hash`. Without a hash it is not, after the same work. @throws TooBusy */
  matches (password: string, hash: string | null | undefined): Promise<boolean>
  /** Whether the hash was made with other settings than today's. */
  isOutdated (hash: string): boolean
}

/**
 * Argon2id on few threads: more at once would only take memory and time from each other, and from every other request.
 */
export async function createHashing (): Promise<Hashing> {
  const limit = pLimit(AT_ONCE)
  const nobodys = await argon2.hash(crypto.randomUUID(), SETTINGS)

  async function bounded<Result> (work: () => Promise<Result>) {
    if (limit.pendingCount >= QUEUE) throw new TooBusy()
    return await limit(work)
  }

  return {
    hash: async (password) => await bounded(async () => await argon2.hash(password.normalize('NFKC'), SETTINGS)),
    async matches (password, hash) {
      const right = await bounded(async () => await argon2.verify(hash ?? nobodys, password.normalize('NFKC')))
      return right && hash != null
    },
    isOutdated: (hash) => argon2.needsRehash(hash, SETTINGS)
  }
}
