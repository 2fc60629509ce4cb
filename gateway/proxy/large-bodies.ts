import { Transform, Writable, type Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { PayloadTooLarge, RateLimited, RequestTimeout } from '@tandem/http-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { clientOf } from '../rate-limits/limits.ts'
import { createIncompleteBody } from './bodies.ts'
import { createConcurrencyLimiter, holdUntilClosed } from './concurrency.ts'
import { createMemoryStore } from './memory-store.ts'
import { MAX_PASSED_BODIES } from './pools.ts'
import { createPace } from './slow-transfers.ts'

const MAX_WAIT_MS = 5_000
// 64 MiB of the 512 that the process may have.
const blocksInAll = { concurrency: 1_024, maxQueued: 64, maxWaitMs: MAX_WAIT_MS }
// The app uploads six photos at once: the others wait, unread.
const bodiesPerAccount = { concurrency: 2, maxQueued: 8, maxWaitMs: MAX_WAIT_MS }

const passedInAll = { concurrency: MAX_PASSED_BODIES, maxQueued: 64, maxWaitMs: MAX_WAIT_MS }
const MAX_PASSED_WAIT_MS = 10_000
const passedPerAccount = {
  concurrency: 3,
  maxQueued: 8,
  maxWaitMs: MAX_PASSED_WAIT_MS,
  createError: () => new RateLimited(MAX_PASSED_WAIT_MS / 1_000)
}

export type LargeBodies = ReturnType<typeof createLargeBodies>

/** The long bodies of all routes: those that are stored first, and those that are passed on as they arrive. */
export function createLargeBodies () {
  return { store: createStoring(), passOn: createPassing() }
}

/**
 * Returns a function that stores a long body until it has arrived, so that a slow client holds nothing of a service.
 * What counts is the bytes that have arrived, until the response is sent: 64 MiB in this process. Once they are used
 * up, slow bodies are ended, and others wait. Of one account, two bodies are read at once.
 *
 * The function throws PayloadTooLarge beyond `limit` bytes, whatever length was declared, RequestTimeout if the body is
 * too slow, and Unavailable after 5 s of waiting.
 */
function createStoring () {
  const memory = createConcurrencyLimiter(blocksInAll)
  const accounts = createConcurrencyLimiter(bodiesPerAccount)
  const watchPace = createPace({ isShort: () => memory.isWaiting('all') })

  return async (request: FastifyRequest, reply: FastifyReply, limit: number): Promise<Readable> => {
    const { raw } = request
    holdUntilClosed(reply, await accounts.acquire(request.account.id))
    const store = createMemoryStore(async () => await memory.acquire('all'))
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
      owners: ownersOf(request),
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
      discardRest(raw.off('error', onError))
    }
    holdUntilClosed(reply, store.free)
    return store.read()
  }
}

/**
 * Returns a function that passes a long body on as it arrives, to a service that writes it to its disk: 24 in this
 * process, three of one account. Once 24 are on their way, slow ones are ended, and all but the oldest of an account;
 * others wait.
 *
 * The function throws RateLimited after 10 s of waiting for others of the account, and Unavailable after 5 s of waiting
 * for others. The stream that it returns fails with PayloadTooLarge beyond `limit` bytes, whatever length was declared,
 * with RequestTimeout if the body is too slow, and with ValidationError if it breaks off.
 */
function createPassing () {
  const bodies = createConcurrencyLimiter(passedInAll)
  const accounts = createConcurrencyLimiter(passedPerAccount)
  const watchPace = createPace({ isShort: () => bodies.isWaiting('all') })
  /** Those of an account, the oldest first. Eight accounts with three each could keep all places without being slow. */
  const open = new Map<string, Set<Readable>>()

  return async (request: FastifyRequest, reply: FastifyReply, limit: number): Promise<Readable> => {
    const { raw, account: { id: accountId } } = request
    holdUntilClosed(reply, await accounts.acquire(accountId))
    const release = await bodies.acquire('all')
    let length = 0
    const body = new Transform({
      transform (chunk: Buffer, _encoding, done) {
        length += chunk.length
        if (length > limit) done(new PayloadTooLarge())
        else done(null, chunk)
      }
    })
    const own = (open.get(accountId) ?? new Set<Readable>()).add(body)
    open.set(accountId, own)
    const onError = () => body.destroy(createIncompleteBody())
    const stopWatching = watchPace({
      owners: ownersOf(request),
      countBytes: () => length,
      waitsForClient: () => !raw.complete && body.writableLength + body.readableLength === 0,
      end: () => body.destroy(new RequestTimeout()),
      isSurplus: () => own.values().next().value !== body
    })
    body.once('close', () => {
      own.delete(body)
      if (own.size === 0) open.delete(accountId)
      stopWatching()
      discardRest(raw.off('error', onError))
    })
    holdUntilClosed(reply, () => {
      release()
      // If it was never sent, or the service responds before it has read the whole body.
      body.destroy()
    })
    return raw.on('error', onError).pipe(body)
  }
}

/** Who is slow if `request` is: its account and its client address. */
export const ownersOf = (request: FastifyRequest) => [`account ${request.account.id}`, `address ${clientOf(request)}`]

/** Reads what is left of a body, so that the client can read the response. */
const discardRest = (raw: FastifyRequest['raw']) => void raw.unpipe().on('error', () => {}).resume()
