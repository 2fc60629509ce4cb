import client from 'prom-client'
import t from 'tap'
import { processMetrics } from './default-metrics.ts'

t.test("all of prom-client's metrics of a process are collected, but its event loop lag", async (t) => {
  const { metricsList } = client.collectDefaultMetrics as unknown as { metricsList: string[] }
  t.strictSame(Object.keys(processMetrics).sort(), metricsList.filter((name) => name !== 'eventLoopLag').sort())
})
