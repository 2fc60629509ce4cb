import { TandemError } from './errors.ts'
import { exclusively } from './exclusive.ts'
import type { Operations } from './generated/sdk.gen.ts'
import { createKey } from './retries.ts'
import type { Session } from './session.ts'
import { checked, memoryStorage, type Stored } from './storage.ts'

/**
 * What can wait until the server can be reached: each can be sent twice without happening twice, by its idempotency key
 * or because it says how something is to be. The value is the error that says that it is so already.
 */
const queued = {
  createComment: undefined,
  deleteComment: 'NOT_FOUND',
  deleteLog: 'NOT_FOUND',
  followUser: 'ALREADY_FOLLOWING',
  likePost: 'ALREADY_LIKED',
  markChatRead: undefined,
  markNotificationsRead: undefined,
  saveLogs: undefined,
  sendMessage: undefined,
  unfollowUser: 'NOT_FOLLOWING',
  unlikePost: 'NOT_LIKED',
  viewStory: undefined
} as const

export type QueuedOperation = keyof typeof queued

/** The parts of an operation's options that can be stored. */
export type QueuedOptions<Name extends QueuedOperation> = Pick<
  NonNullable<Parameters<Operations[Name]>[0]>,
  Extract<keyof NonNullable<Parameters<Operations[Name]>[0]>, 'path' | 'query' | 'body'>
>

/** An operation that waits, as JSON. */
export interface OutboxEntry {
  /** It is also its idempotency key. */
  id: string
  /** The account that added it; it is never sent as another one. */
  accountId: string
  operation: QueuedOperation
  options: object
  /** Entries of one thread are sent in their order. */
  thread: string
  /** Milliseconds since 1970. */
  addedAt: number
}

export interface OutboxOptions {
  /** Where entries are kept: `storageIn(AsyncStorage, 'outbox')`. Default: memory, which does not outlive the app. */
  storage?: Stored<OutboxEntry[]>
  /** Called after each change, with what waits: show it as if it had been sent. */
  onChange?: (waiting: OutboxEntry[]) => void
  /** Called with the response of the API. That of `saveLogs` says which logs were rejected. */
  onSent?: (entry: OutboxEntry, response: unknown) => void
  /** Called when the API refuses an entry for good; it is dropped. */
  onRefused?: (entry: OutboxEntry, error: TandemError) => void
  /** The longest delay between two attempts, in milliseconds. Default 60,000. */
  maxDelayMs?: number
}

export interface Outbox {
  /**
   * Stores an operation and sends it as soon as possible. Resolves when it is stored.
   * @param thread what is sent in order, such as `chat/<matchId>`; default: everything of this operation
   * @throws TandemError UNAUTHORIZED if nobody is signed in
   */
  add<Name extends QueuedOperation>(
    operation: Name,
    options: QueuedOptions<Name>,
    thread?: string
  ): Promise<OutboxEntry>
  /** What waits, of the signed-in account. */
  waiting(): Promise<OutboxEntry[]>
  /** Drops what waits, as when its person deletes it from the screen. What is being sent already can still arrive. */
  drop(id: string): Promise<void>
  /** Sends what waits, now. Call it when the app comes to the foreground or online. */
  flush(): Promise<void>
  /** Stops sending. What waits stays stored. */
  close(): void
}

interface Dependencies {
  operations: Operations
  session: Pick<Session, 'current'>
}

const FIRST_DELAY_MS = 1_000

export function openOutbox ({ operations, session }: Dependencies, options: OutboxOptions): Outbox {
  const { onChange, onSent, onRefused, maxDelayMs = 60_000 } = options
  const storage = checked(options.storage ?? memoryStorage<OutboxEntry[]>())
  let failures = 0
  /** The threads whose next entry could not be sent: they wait for the timer. */
  let stopped = new Set<string>()
  let isClosed = false
  let timer: ReturnType<typeof setTimeout> | undefined

  const readAll = async () => await storage.read() ?? []

  async function waiting () {
    const current = await session.current()
    return (await readAll()).filter(({ accountId }) => accountId === current?.accountId)
  }

  async function change (edit: (entries: OutboxEntry[]) => OutboxEntry[]) {
    await exclusively('outbox', async () => await storage.write(edit(await readAll())))
    onChange?.(await waiting())
  }

  const drop = async (id: string) => await change((entries) => entries.filter((entry) => entry.id !== id))

  /** Sends one entry. @returns whether it is done with, so that the next of its thread can follow */
  async function sendOne (entry: OutboxEntry) {
    const current = await session.current()
    // Somebody else has signed in meanwhile.
    if (current?.accountId !== entry.accountId) return false
    const isDropped = (await readAll()).every(({ id }) => id !== entry.id)
    if (isDropped) return true
    // Another version of the app has added it.
    if (!(entry.operation in queued)) {
      await drop(entry.id)
      onRefused?.(entry, new TandemError('This version of the app cannot send it.', { code: 'UNKNOWN_OPERATION' }))
      return true
    }
    const headers = { 'idempotency-key': entry.id }
    const call = operations[entry.operation] as (options: object) => Promise<unknown>
    try {
      const response = await call.call(operations, { ...entry.options, headers, auth: current.token })
      await drop(entry.id)
      onSent?.(entry, response)
    } catch (error) {
      if (!(error instanceof TandemError)) throw error
      if (isTemporary(error)) return false
      await drop(entry.id)
      if (error.code === queued[entry.operation]) onSent?.(entry, undefined)
      else onRefused?.(entry, error)
    }
    return true
  }

  async function sendWaiting () {
    const entries = await waiting()
    // Another tab can have sent or added some.
    onChange?.(entries)
    for (const entry of entries) {
      if (isClosed || stopped.has(entry.thread)) continue
      if (!await sendOne(entry)) stopped.add(entry.thread)
    }
  }

  /** @param isRetry whether threads that have stopped are tried again; others do not wait for them */
  async function sendAll (isRetry: boolean) {
    if (isRetry) stopped = new Set()
    let hasStorage = true
    await sendWaiting().catch((error: unknown) => {
      if (!(error instanceof TandemError)) throw error
      hasStorage = false
    })
    if (failures > 0 && !isRetry) return
    clearTimeout(timer)
    failures = hasStorage && stopped.size === 0 ? 0 : failures + 1
    if (failures > 0 && !isClosed) {
      timer = setTimeout(() => void flush(), Math.min(maxDelayMs, FIRST_DELAY_MS * 2 ** (failures - 1)))
    }
  }

  // One tab at a time, or the order of a thread would be lost.
  const send = async (isRetry: boolean) => await exclusively('outbox sending', async () => await sendAll(isRetry))
  const flush = async () => await send(true)

  return {
    async add (operation, options, thread = operation) {
      const accountId = (await session.current())?.accountId
      if (accountId === undefined) throw new TandemError('Sign in first', { code: 'UNAUTHORIZED' })
      const entry = { id: createKey(), accountId, operation, options, thread, addedAt: Date.now() }
      await change((entries) => [...entries, entry])
      void send(false)
      return entry
    },
    waiting,
    drop,
    flush,
    close () {
      isClosed = true
      clearTimeout(timer)
    }
  }
}

/**
 * Whether the same request can succeed later: the server was not reached, is busy, or the session must be renewed (401)
 * or the app updated (426).
 */
const isTemporary = ({ code, status }: TandemError) =>
  [0, 401, 408, 426, 429].includes(status) || status >= 500 || code === 'INVALID_RESPONSE'
