import { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { PayloadTooLarge, RequestTimeout } from '@tandem/http-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { clientOf } from '../rate-limits/limits.ts'
import { createIncompleteBody } from './bodies.ts'
import { createConcurrencyLimiter, holdUntilClosed } from './concurrency.ts'
import { createPace } from './slow-transfers.ts'

// Bodies are copied into blocks: one that arrives in pieces of a byte would take a hundred times its length.
const BLOCK_BYTES = 64 * 1_024
const MAX_WAIT_MS = 5_000
// 64 MiB of the 512 that the process may have.
const blocksInAll = { concurrency: 1_024, maxQueued: 64, maxWaitMs: MAX_WAIT_MS }
// The app uploads six photos at once: the others wait, unread.
const bodiesPerAccount = { concurrency: 2, maxQueued: 8, maxWaitMs: MAX_WAIT_MS }

export type LargeBodies = ReturnType<typeof createLargeBodies>

/**
 * Returns a function that buffers a long body, so that a slow client holds nothing of a service. What counts is the
 * bytes that have arrived, until the response is sent: 64 MiB in this process. Once they are used up, slow bodies are
 * ended, and others wait. Of one account, two bodies are read at once.
 *
 * The function throws PayloadTooLarge beyond `limit` bytes, whatever length was declared, RequestTimeout if the body is
 * too slow, and Unavailable after 5 s of waiting.
 */
export function createLargeBodies () {
  const accounts = createConcurrencyLimiter(bodiesPerAccount)
  const memory = createConcurrencyLimiter(blocksInAll)
  const watchPace = createPace({ isShort: () => memory.isWaiting('all') })

  return async (request: FastifyRequest, reply: FastifyReply, limit: number): Promise<Readable> => {
    holdUntilClosed(reply, await accounts.acquire(request.account.id))
    const { raw } = request
    const blocks: Buffer[] = []
    const releases: (() => void)[] = []
    let length = 0
    let used = BLOCK_BYTES

    async function store (chunk: Buffer) {
      length += chunk.length
      if (length > limit) throw new PayloadTooLarge()
      for (let stored = 0; stored < chunk.length;) {
        if (used === BLOCK_BYTES) {
          const release = await memory.acquire('all')
          if (sink.destroyed) return release()
          releases.push(release)
          blocks.push(Buffer.allocUnsafeSlow(BLOCK_BYTES))
          used = 0
        }
        const copied = chunk.copy(blocks.at(-1) as Buffer, used, stored)
        used += copied
        stored += copied
      }
    }
    const sink = new Writable({
      write: (chunk: Buffer, _encoding, done) => void store(chunk).then(() => done(), done)
    })
    const free = () => {
      for (const release of releases.splice(0)) release()
    }
    const onError = () => sink.destroy(createIncompleteBody())
    const stopWatching = watchPace({
      owners: [`account ${request.account.id}`, `address ${clientOf(request)}`],
      countBytes: () => length,
      waitsForClient: () => !raw.complete && sink.writableLength === 0,
      end: () => sink.destroy(new RequestTimeout())
    })
    try {
      await finished(raw.on('error', onError).pipe(sink))
    } catch (error) {
      free()
      throw error
    } finally {
      stopWatching()
      // The rest is discarded, so that the client can read the response.
      raw.unpipe(sink).off('error', onError).on('error', () => {}).resume()
    }
    holdUntilClosed(reply, free)
    return Readable.from([...blocks.slice(0, -1), ...blocks.slice(-1).map((last) => last.subarray(0, used))])
  }
}
