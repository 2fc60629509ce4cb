import { sendEphemeral, type Connection, type PresenceWatch } from './connection.ts'
import { sinceStart } from './times.ts'

/**
 * Sends the presence of these matches: at once, then each change. Presence is read, never broadcast, so that the rules
 * of profiles hold for each reader.
 */
export function watch (connection: Connection, matchIds: string[]) {
  connection.presence = { watched: [...new Set(matchIds)], sent: new Map() }
  refreshPresence(connection)
}

/** Reads presence and sends what has changed. It also records the account as active. */
export function refreshPresence (connection: Connection) {
  if (!connection.isReadingPresence) void refresh(connection)
}

async function refresh (connection: Connection) {
  connection.isReadingPresence = true
  try {
    let presence
    do {
      presence = connection.presence
      connection.presenceReadAt = sinceStart()
      const found = await read(connection, presence?.watched ?? [])
      // The client may watch others by now.
      if (presence && presence === connection.presence) sendChanges(connection, presence, found)
    } while (presence !== connection.presence)
  } catch {
    // fitmatch is unavailable: the next look is as far away as any other.
  } finally {
    connection.isReadingPresence = false
  }
}

async function read ({ shared, token: { account: { token } } }: Connection, matchIds: string[]) {
  const answer = await shared.readPresence({ token, matchIds })
  return 'code' in answer ? [] : answer.presence
}

function sendChanges (connection: Connection, { sent }: PresenceWatch, found: Awaited<ReturnType<typeof read>>) {
  for (const data of found) {
    const text = JSON.stringify(data)
    if (sent.get(data.matchId) === text) continue
    sent.set(data.matchId, text)
    sendEphemeral(connection, { type: 'presence.changed', at: new Date().toISOString(), data })
  }
}
