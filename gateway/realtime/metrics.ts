import { registry } from '@tandem/process-kit'
import { Counter, Gauge, Histogram } from 'prom-client'

export const connectionsGauge = new Gauge({
  name: 'gateway_realtime_connections',
  help: 'Open realtime connections',
  labelNames: ['transport'] as const,
  registers: [registry]
})
export const maxConnectionsGauge = new Gauge({
  name: 'gateway_realtime_max_connections',
  help: 'How many realtime connections this process accepts',
  registers: [registry]
})
export const openedTotal = new Counter({
  name: 'gateway_realtime_opened_total',
  help: 'Attempts to open a realtime connection, by outcome: fresh, resumed, reset (it cannot be resumed), or refused',
  labelNames: ['outcome'] as const,
  registers: [registry]
})
// A ratio needs all of them, also before the first of a kind.
for (const outcome of ['fresh', 'resumed', 'reset', 'refused'] as const) openedTotal.inc({ outcome }, 0)
export const closedTotal = new Counter({
  name: 'gateway_realtime_closed_total',
  help: 'Realtime connections that ended, by reason: a close code, client, or stalled',
  labelNames: ['reason'] as const,
  registers: [registry]
})
export const framesTotal = new Counter({
  name: 'gateway_realtime_frames_total',
  help: 'Frames sent to clients',
  labelNames: ['type'] as const,
  registers: [registry]
})
export const droppedTotal = new Counter({
  name: 'gateway_realtime_dropped_total',
  help: 'Ephemeral messages that were not sent because the client is slow',
  registers: [registry]
})

const delay = new Histogram({
  name: 'gateway_realtime_delay_seconds',
  help: 'Time from the commit of what a frame reports until the frame is written to an open connection',
  buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60],
  registers: [registry]
})

/**
 * Observes the delay of a frame, on a connection that has been open for `openMs`. What happened before it was opened is
 * a replay, and not late.
 */
export function observeDelay (at: string, openMs: number) {
  const delayMs = Date.now() - Date.parse(at)
  if (delayMs < openMs) delay.observe(Math.max(0, delayMs) / 1_000)
}
