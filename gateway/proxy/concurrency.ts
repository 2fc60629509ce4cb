import { ClientDisconnected } from '@tandem/http-kit'
import { Unavailable } from '@tandem/process-kit'
import type { FastifyReply } from 'fastify'

export interface ConcurrencyLimits {
  concurrency: number
  maxQueued: number
  maxWaitMs: number
  /** The error of what waits too long, or finds the queue full; default Unavailable. */
  createError?: () => Error
}

/** Limits how many of one owner, such as an account, run at once; the rest wait in its queue, and hinder no others. */
export function createConcurrencyLimiter (
  { concurrency, maxQueued, maxWaitMs, createError = () => new Unavailable() }: ConcurrencyLimits
) {
  const owners = new Map<string, { running: number, waiting: Set<() => void> }>()

  /**
   * Waits for a slot of the owner and returns the function that releases it. Throws if the owner's queue is full, or
   * after `maxWaitMs`.
   */
  async function acquire (ownerId: string): Promise<() => void> {
    const owner = owners.get(ownerId) ?? { running: 0, waiting: new Set() }
    owners.set(ownerId, owner)

    function release () {
      const [next] = owner.waiting
      if (next) return next()
      owner.running--
      if (owner.running === 0) owners.delete(ownerId)
    }

    if (owner.running < concurrency) {
      owner.running++
      return release
    }
    if (owner.waiting.size >= maxQueued) throw createError()
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        owner.waiting.delete(start)
        reject(createError())
      }, maxWaitMs)
      function start () {
        clearTimeout(timer)
        owner.waiting.delete(start)
        resolve(release)
      }
      owner.waiting.add(start)
    })
  }

  return {
    acquire,
    /** Whether any of the owner waits. */
    isWaiting: (ownerId: string) => (owners.get(ownerId)?.waiting.size ?? 0) > 0
  }
}

/**
 * Calls `release` once the response of `reply` is sent, or its client is gone.
 * @throws ClientDisconnected if the client is gone already
 */
export function holdUntilClosed ({ raw }: FastifyReply, release: () => void) {
  if (!raw.destroyed) return void raw.once('close', release)
  release()
  throw new ClientDisconnected()
}
