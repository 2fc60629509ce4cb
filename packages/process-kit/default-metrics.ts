// oxlint-disable-next-line typescript/triple-slash-reference -- an import cannot name a file that only declares modules
/// <reference path="./prom-client.d.ts" />
import { monitorEventLoopDelay } from 'node:perf_hooks'
import client from 'prom-client'
import gc from 'prom-client/lib/metrics/gc.js'
import heapSizeAndUsed from 'prom-client/lib/metrics/heapSizeAndUsed.js'
import heapSpacesSizeAndUsed from 'prom-client/lib/metrics/heapSpacesSizeAndUsed.js'
import osMemoryHeap from 'prom-client/lib/metrics/osMemoryHeap.js'
import processCpuTotal from 'prom-client/lib/metrics/processCpuTotal.js'
import processHandles from 'prom-client/lib/metrics/processHandles.js'
import processMaxFileDescriptors from 'prom-client/lib/metrics/processMaxFileDescriptors.js'
import processOpenFileDescriptors from 'prom-client/lib/metrics/processOpenFileDescriptors.js'
import processRequests from 'prom-client/lib/metrics/processRequests.js'
import processResources from 'prom-client/lib/metrics/processResources.js'
import processStartTime from 'prom-client/lib/metrics/processStartTime.js'
import version from 'prom-client/lib/metrics/version.js'

/** All of prom-client's but `eventLoopLag`, by the names of its `collectDefaultMetrics.metricsList`. */
export const processMetrics = {
  gc,
  heapSizeAndUsed,
  heapSpacesSizeAndUsed,
  osMemoryHeap,
  processCpuTotal,
  processHandles,
  processMaxFileDescriptors,
  processOpenFileDescriptors,
  processRequests,
  processResources,
  processStartTime,
  version
}

let isCollecting = false

/**
 * Collects prom-client's metrics of the process, once. Its own monitor of the event loop would wake an idle process a
 * hundred times a second, so that one is replaced by one that samples each iteration and never wakes it.
 */
export function collectProcessMetrics () {
  if (isCollecting) return
  isCollecting = true
  for (const collect of Object.values(processMetrics)) collect(undefined, {})
  const delays = monitorEventLoopDelay({ samplePerIteration: true })
  delays.enable()
  const gauge = (name: string, help: string) => new client.Gauge({ name: `nodejs_eventloop_lag_${name}`, help })
  const mean = gauge('mean_seconds', 'The mean duration of the iterations of the event loop since the last scrape.')
  const max = gauge('max_seconds', 'The longest iteration of the event loop since the last scrape.')
  const percentiles = [50, 90, 99].map((percent) =>
    [percent, gauge(`p${percent}_seconds`, `The ${percent}th percentile of the iterations of the event loop.`)] as const
  )
  new client.Gauge({
    name: 'nodejs_eventloop_lag_seconds',
    help: 'Lag of event loop in seconds.',
    // The first of them: it sets all.
    async collect () {
      const since = performance.now()
      mean.set(seconds(delays.mean))
      max.set(seconds(delays.max))
      for (const [percent, each] of percentiles) each.set(seconds(delays.percentile(percent)))
      delays.reset()
      await new Promise(setImmediate)
      this.set((performance.now() - since) / 1_000)
    }
  })
}

// The mean of no sample is not a number.
const seconds = (nanoseconds: number) => Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0
