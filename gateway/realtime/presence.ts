import { sendEphemeral, type Connection } from './connection.ts'

/**
 * Sends the presence of these matches: at once, then each change. Presence is read, never broadcast, so that the rules
 * of profiles hold for each reader.
 */
export function watch (connection: Connection, matchIds: string[]) {
  const { presence } = connection
  presence.watched = [...new Set(matchIds)]
  presence.sent = undefined
  presence.isOutdated = true
  refreshPresence(connection)
}

/** Reads presence and sends what has changed. It also records the account as active. */
export function refreshPresence (connection: Connection) {
  if (!connection.presence.isReading) void refresh(connection)
}

async function refresh (connection: Connection) {
  const { presence } = connection
  presence.isReading = true
  try {
    do {
      presence.isOutdated = false
      presence.readAt = Date.now()
      const found = await read(connection)
      if (!presence.isOutdated) sendChanges(connection, found)
    } while (presence.isOutdated)
  } catch {
    // fitmatch is unavailable: the next look is as far away as any other.
  } finally {
    presence.isReading = false
  }
}

async function read ({ shared, token: { account: { token } }, presence: { watched } }: Connection) {
  const answer = await shared.readPresence({ token, matchIds: watched })
  return 'code' in answer ? [] : answer.presence
}

function sendChanges (connection: Connection, found: Awaited<ReturnType<typeof read>>) {
  for (const data of found) {
    const sent = connection.presence.sent ??= new Map()
    const text = JSON.stringify(data)
    if (sent.get(data.matchId) === text) continue
    sent.set(data.matchId, text)
    sendEphemeral(connection, { type: 'presence.changed', at: new Date().toISOString(), data })
  }
}
