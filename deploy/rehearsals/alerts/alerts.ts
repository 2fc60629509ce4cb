// Rehearses alerts: breaks what a running system needs, waits until Prometheus fires the alert for it, mends it, and
// waits until the alert is resolved. No alert may fire before the first fault or after the last one.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startMail } from '@tandem/test-kit'
import { withStack } from '../kit/stack.ts'
import { withTeardown } from '../kit/teardown.ts'
import { prepareStreams, startDiscovery } from './discovery.ts'
import { startExporters } from './exporters.ts'
import { listFaults, readOnlyPostgres, type Fault } from './faults.ts'
import { startPrometheus, type Labels } from './prometheus.ts'

const { values: { real } } = parseArgs({ options: { real: { type: 'boolean', default: false } } })
const FACTOR = real ? 1 : 10
const POLL_MS = 250
const HEALTHY_MS = 60_000
// The longest are MailLate, which compares an age with five minutes, and without the factor ConsumerStuck.
const MAX_FIRING_MS = (real ? 15 : 8) * 60_000
const MAX_RESOLVING_MS = 3 * 60_000
// Without the factor it takes more than an hour.
const SLOW = 'CertificateExpires'
// It fires where no exporter of NATS is scraped, as here.
const EXPECTED = 'NatsDown'

let isFailed = false

await withTeardown(async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-alerts-'))
  t.teardown(async () => await rm(folder, { recursive: true, force: true }))
  const mail = await startMail(t)
  const exporters = await startExporters(t, folder)
  const prometheus = await startPrometheus(path.join(folder, 'prometheus'), FACTOR)
  t.teardown(prometheus.stop)
  console.log(
    real
      ? 'Prometheus evaluates the rules as they are.'
      : `Prometheus evaluates the rules with each "for" and each range divided by ${FACTOR}, and scrapes ${FACTOR} times as often. What they compare values with is unchanged.`
  )

  const rehearseFault = async ({ name, alert, break: breakSystem }: Fault) => {
    const isFiring = async () => (await prometheus.readFiring()).some((labels) => matches(labels, alert))
    const mend = await breakSystem()
    const firedMs = await waitFor(isFiring, MAX_FIRING_MS)
    await mend()
    const resolvedMs = await waitFor(async () => !await isFiring(), MAX_RESOLVING_MS)
    const [fired, resolved] = [firedMs, resolvedMs].map((ms) => ms && `after ${(ms / 1_000).toFixed(1)} s`)
    check(
      firedMs !== undefined && resolvedMs !== undefined,
      `${name}: ${describe(alert)} fired ${fired ?? 'not'}, and was resolved ${resolved ?? 'not'}`
    )
  }
  const readUnexpected = async () =>
    (await prometheus.readFiring()).filter(({ alertname }) => alertname !== EXPECTED).map(describe)
  const checkQuiet = async (what: string, maxMs: number) => {
    await waitFor(async () => (await readUnexpected()).length === 0, maxMs)
    check((await readUnexpected()).length === 0, [what, ...await readUnexpected()].join(', not '))
  }

  await withStack(
    async (stack, dataDir) =>
      await withTeardown(async (t) => {
        const streams = prepareStreams(stack, folder)
        t.teardown(streams.stop)
        await streams.start()
        const listOthers = () => new Map([...streams.targets(), ...exporters.targets])
        t.teardown(startDiscovery(dataDir, listOthers, prometheus.setTargets))
        const size = Object.keys(stack.services).length + 1 + listOthers().size
        while ((await prometheus.readHealthy()).length < size) await sleep(POLL_MS)

        await sleep(HEALTHY_MS)
        await checkQuiet('a healthy system fires no alert', 0)
        const faults = listFaults({ stack, dataDir, mail, exporters, streams })
        await Promise.all(faults.filter(({ alert }) => !real || alert.alertname !== SLOW).map(rehearseFault))
        await checkQuiet('nothing fires once they are mended', MAX_RESOLVING_MS)
        await rehearseFault(readOnlyPostgres(stack))
        await checkQuiet('nothing fires at the end', MAX_RESOLVING_MS)
      }),
    { METRICS_PORT: '0', SMTP_URL: mail.smtpUrl }
  )
})
process.exit(isFailed ? 1 : 0)

/** How long it took until `isTrue`; undefined if that took longer than `maxMs`. */
async function waitFor (isTrue: () => Promise<boolean>, maxMs: number): Promise<number | undefined> {
  const since = performance.now()
  for (;; await sleep(POLL_MS)) {
    const ms = performance.now() - since
    if (await isTrue()) return ms
    if (ms > maxMs) return undefined
  }
}

function matches (labels: Labels, wanted: Labels) {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value)
}

function describe ({ alertname, severity: _severity, ...labels }: Labels) {
  const names = Object.values(labels).join(' ')
  return names ? `${alertname} (${names})` : alertname
}

function check (isOk: boolean, what: string) {
  console.log(`${isOk ? '✓' : '✗'} ${what}`)
  if (!isOk) isFailed = true
}
