import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { withStack } from '@tandem/rehearsals/kit/stack.ts'
import { freePort, until } from '@tandem/test-kit'
import { verifyLines } from './request-lines.ts'

const folder = import.meta.dirname
const read = async (file: string) => await readFile(path.join(folder, file), 'utf8')

/** The text of all alerts and dashboards. */
async function readRules () {
  const dashboards = (await readdir(path.join(folder, 'dashboards'))).map((file) => `dashboards/${file}`)
  return (await Promise.all(['alerts.yml', 'servers.yml', ...dashboards].map(read))).join('\n')
}

// The prefixes of what Tandem's own processes export.
const OWN =
  /\b(?:account|bus|fitmatch|gateway|health|http|identity|mail|nodejs|notification|postgres|process|queue|redis)_\w+\b(?=[{[\s)])/g
const PARTS_OF_HISTOGRAM = /_(bucket|count|sum)$/

t.test('a running system exports every metric that an alert or dashboard names, and spans of whole requests', async (t) => {
  const collector = await startCollector(t)
  await withStack(async (stack, dataDir) => {
    const { gateway, services, nats } = stack
    const port = await freePort()
    const streams = spawn(process.execPath, ['packages/bus-kit/streams-cli.ts', ...Object.keys(services)], {
      env: { ...process.env, NATS_URL: nats.url, METRICS_PORT: String(port) },
      stdio: 'ignore'
    })
    t.teardown(() => streams.kill('SIGKILL'))
    const ended = once(streams, 'exit')
    const urls = [...Object.values(services), gateway].map(({ metrics }) => metrics ?? '')
    urls.push(`http://127.0.0.1:${port}/metrics`)
    const scrape = async () => (await Promise.all(urls.map(async (url) => await (await fetch(url)).text()))).join('\n')
    await until(async () => /bus_stream_available\{.*\} 1/.test(await scrape().catch(() => '')))
    const exported = await scrape()
    streams.kill()
    await ended

    const rules = await readRules()
    const named = new Set([...rules.matchAll(OWN)].map(([name]) => name))
    t.ok(named.size > 30, `${named.size} metrics are named`)
    const types = new Set([...exported.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
    const missing = [...named].filter((name) => !types.has(name) && !types.has(name.replace(PARTS_OF_HISTOGRAM, '')))
    t.strictSame(missing, [])

    // A rate needs a sample before the first event, so counters start at 0.
    const counters = [...named].filter((name) => name.endsWith('_total'))
    const empty = counters.filter((name) => !new RegExp(`^${name}(\\{.*\\})? \\d`, 'm').test(exported))
    t.strictSame(empty, [])
    await verifyLines(t, stack, dataDir)
  }, { METRICS_PORT: '0', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' })
  t.ok(collector.exports() > 0)
})

/** What spans are exported to. */
async function startCollector (t: Test) {
  let exports = 0
  const server = createServer((request, response) => {
    exports++
    request.resume().on('end', () => response.end())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, exports: () => exports }
}
