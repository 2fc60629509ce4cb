import { Writable, type Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { PayloadTooLarge, RateLimited, RequestTimeout } from '@tandem/http-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { clientOf } from '../rate-limits/limits.ts'
import { UPLOAD_BODY_BYTES } from '../routes.ts'
import { createFileStore, createMemoryStore } from './body-stores.ts'
import { createIncompleteBody, declaredLengthOf } from './bodies.ts'
import { createConcurrencyLimiter, holdUntilClosed } from './concurrency.ts'
import { createPace } from './slow-transfers.ts'

const MAX_WAIT_MS = 5_000
// 64 MiB of the 512 that the process may have.
const blocksInAll = { concurrency: 1_024, maxQueued: 64, maxWaitMs: MAX_WAIT_MS }
// The app uploads six photos at once: the others wait, unread.
const bodiesPerAccount = { concurrency: 2, maxQueued: 8, maxWaitMs: MAX_WAIT_MS }

// Videos, which wait on disk: 1.3 GiB with the default limit of 50 MB.
const filesInAll = { concurrency: 24, maxQueued: 64, maxWaitMs: MAX_WAIT_MS }
const MAX_FILE_WAIT_MS = 10_000
const filesPerAccount = {
  concurrency: 3,
  maxQueued: 8,
  maxWaitMs: MAX_FILE_WAIT_MS,
  createError: () => new RateLimited(MAX_FILE_WAIT_MS / 1_000)
}

export type LargeBodies = ReturnType<typeof createLargeBodies>

/**
 * Returns a function that stores a long body until it has arrived, so that a slow client holds nothing of a service.
 * What counts is the bytes that have arrived, until the response is sent: 64 MiB in this process. Once they are used
 * up, slow bodies are ended, and others wait. Of one account, two bodies are read at once. A body that is longer than an
 * image, or of unknown length where it may be, is stored in a file: 24 in this process, three of one account.
 *
 * The function throws PayloadTooLarge beyond `limit` bytes, whatever length was declared, RequestTimeout if the body is
 * too slow, Unavailable after 5 s of waiting, and RateLimited after 10 s of waiting for other files of the account.
 */
export function createLargeBodies () {
  const memory = createConcurrencyLimiter(blocksInAll)
  const files = createConcurrencyLimiter(filesInAll)
  const inMemory = {
    accounts: createConcurrencyLimiter(bodiesPerAccount),
    watchPace: createPace({ isShort: () => memory.isWaiting('all') }),
    createStore: async (_reply: FastifyReply) => createMemoryStore(async () => await memory.acquire('all'))
  }
  const inFiles = {
    accounts: createConcurrencyLimiter(filesPerAccount),
    watchPace: createPace({ isShort: () => files.isWaiting('all') }),
    createStore: async (reply: FastifyReply) => {
      holdUntilClosed(reply, await files.acquire('all'))
      return await createFileStore()
    }
  }

  return async (request: FastifyRequest, reply: FastifyReply, limit: number): Promise<Readable> => {
    const { raw } = request
    const isLong = limit > UPLOAD_BODY_BYTES && (declaredLengthOf(raw) ?? Infinity) > UPLOAD_BODY_BYTES
    const { accounts, watchPace, createStore } = isLong ? inFiles : inMemory
    holdUntilClosed(reply, await accounts.acquire(request.account.id))
    const store = await createStore(reply)
    let length = 0
    const sink = new Writable({
      write (chunk: Buffer, _encoding, done) {
        length += chunk.length
        if (length > limit) return done(new PayloadTooLarge())
        store.write(chunk).then(() => done(), done)
      }
    })
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
      store.free()
      throw error
    } finally {
      stopWatching()
      // The rest is discarded, so that the client can read the response.
      raw.unpipe(sink).off('error', onError).on('error', () => {}).resume()
    }
    holdUntilClosed(reply, store.free)
    return store.read()
  }
}
