import type { Presence } from '@tandem/contracts/realtime'
import type { Times } from './times.ts'

interface Options {
  times: Times
  /** Reads the presence of matches, and records the account as active. */
  read: (matchIds: string[]) => Promise<Presence[]>
  send: (presence: Presence) => void
}

/**
 * Sends the presence of the matches that a client watches: at once, then each change. Presence is read, never
 * broadcast, so that the rules of profiles hold for each reader.
 */
export function createPresenceWatch ({ times, read, send }: Options) {
  let watched: string[] = []
  let sent = new Map<string, string>()
  let isReading = false
  let isOutdated = false
  // Spread, so that connections that were opened together do not read together for ever.
  let readAt = Date.now() - Math.random() * times.presence

  async function refresh () {
    isReading = true
    try {
      do {
        isOutdated = false
        readAt = Date.now()
        for (const presence of await read(watched)) {
          const text = JSON.stringify(presence)
          if (isOutdated || sent.get(presence.matchId) === text) continue
          sent.set(presence.matchId, text)
          send(presence)
        }
      } while (isOutdated)
    } catch {
      // fitmatch is unavailable: the next look is as far away as any other.
    } finally {
      isReading = false
    }
  }

  return {
    watch (matchIds: string[]) {
      watched = [...new Set(matchIds)]
      sent = new Map()
      isOutdated = true
      if (!isReading) void refresh()
    },
    tick (now: number) {
      const intervalMs = watched.length > 0 ? times.presence : times.activity
      if (!isReading && now - readAt > intervalMs) void refresh()
    }
  }
}
