import type { StreamInfo } from 'nats'
import { Gauge } from 'prom-client'

const labelNames = ['stream'] as const

const available = new Gauge({
  name: 'bus_stream_available',
  help: 'Whether the stream exists and has a leader',
  labelNames
})
const bytes = new Gauge({ name: 'bus_stream_bytes', help: 'Size of the stream', labelNames })
const maxBytes = new Gauge({
  name: 'bus_stream_max_bytes',
  help: 'The size at which the stream rejects events',
  labelNames
})
const wanted = new Gauge({
  name: 'bus_stream_replicas_wanted',
  help: 'The value of STREAM_REPLICAS',
  labelNames
})
const current = new Gauge({
  name: 'bus_stream_replicas_current',
  help: 'Copies of the stream that have all of its events',
  labelNames
})

/** Measures a stream. A server without a cluster has one copy. */
export function measureStream ({ config, state, cluster }: StreamInfo, replicas: number) {
  const stream = config.name
  available.set({ stream }, cluster && !cluster.leader ? 0 : 1)
  bytes.set({ stream }, state.bytes)
  maxBytes.set({ stream }, config.max_bytes)
  wanted.set({ stream }, replicas)
  const followers = cluster?.replicas?.filter((each) => each.current && !each.offline) ?? []
  current.set({ stream }, 1 + followers.length)
}

export function markUnavailable (stream: string) {
  available.set({ stream }, 0)
}
