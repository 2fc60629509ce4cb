import { setTimeout as sleep } from 'node:timers/promises'
import { close, move } from './connection.ts'
import type { Registry } from './registry.ts'

// Time for the frames and the last close to arrive.
const CLOSE_GRACE_MS = 200
// Time for the last clients to open their new connection before they lose this one.
const MAX_MOVE_MS = 1_000

/**
 * Moves all connections to other processes: asks each to reconnect, spread evenly over `durationMs`, then closes those
 * that are left.
 */
export async function drain (registry: Registry, durationMs: number) {
  const connections = [...registry.all()]
  if (connections.length === 0) return
  connections.forEach((connection, number) => move(connection, Math.floor(number / connections.length * durationMs)))
  const deadline = Date.now() + durationMs + Math.min(MAX_MOVE_MS, durationMs / 2)
  while (registry.size() > 0 && Date.now() < deadline) await sleep(50)
  for (const connection of registry.all()) close(connection, 1012)
  await sleep(CLOSE_GRACE_MS)
}
