import type { Storage } from '@tandem/media-kit'

/**
 * Names every account whose erasure has begun, outside the database and its backups. An entry is written before
 * anything is erased, so a backup that still holds the account cannot bring it back.
 */
export interface Ledger {
  /** Does nothing if the entry exists. @throws Unavailable */
  add(entry: LedgerEntry): Promise<void>
  list(): Promise<LedgerEntry[]>
  /** Deletes the entries of days before `day`, `2026-01-31`. */
  deleteBefore(day: string): Promise<void>
}

interface LedgerEntry {
  erasureId: string
  accountId: string
  /** The day on which the erasure began, in UTC. */
  day: string
}

const FOLDER = 'ledger/'

export function createLedger (storage: Storage): Ledger {
  const list = async () =>
    (await storage.list(FOLDER)).flatMap((key) => {
      const [, day, erasureId, file] = key.split('/')
      return day && erasureId && file ? [{ day, erasureId, accountId: file.replace('.json', ''), key }] : []
    })
  return {
    async add ({ day, erasureId, accountId }) {
      const key = `${FOLDER}${day}/${erasureId}/${accountId}.json`
      await storage.put(key, Buffer.from(JSON.stringify({ erasureId, accountId, day })), 'application/json')
    },
    list,
    async deleteBefore (before) {
      for (const { day, key } of await list()) if (day < before) await storage.remove(key)
    }
  }
}
