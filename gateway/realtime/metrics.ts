import { registry } from '@tandem/process-kit'
import { Counter, Gauge } from 'prom-client'

export const connectionsGauge = new Gauge({
  name: 'gateway_realtime_connections',
  help: 'Open realtime connections',
  labelNames: ['transport'] as const,
  registers: [registry]
})
export const openedTotal = new Counter({
  name: 'gateway_realtime_opened_total',
  help: 'Attempts to open a realtime connection, by outcome: resumed, fresh, or refused',
  labelNames: ['outcome'] as const,
  registers: [registry]
})
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
