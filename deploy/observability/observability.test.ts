import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import '@tandem/bus-kit'
import '@tandem/case-kit'
import '@tandem/mail-kit'
import '@tandem/operator-kit'
import '@tandem/database-kit'
import '@tandem/queue-kit'
import '@tandem/http-kit'
import { registry, serveMetrics } from '@tandem/process-kit'
import { describeRules, rulesFile } from './rules.ts'
import '../../gateway/rate-limits/counter.ts'
import '../../gateway/proxy/pools.ts'
import '../../gateway/realtime/metrics.ts'
import '../../services/fitmatch/safety/reports.ts'
import '../../services/identity/security-log/actions.ts'
import '../../services/identity/metrics.ts'
import '../../services/identity/subscriptions/derive.ts'
import '../../services/notification/producers/metrics.ts'
import '../../services/notification/push/backlog.ts'
import '../../services/notification/push/sender.ts'
import '../../services/notification/webhooks/queue.ts'

interface Panel {
  title: string
  targets: { expr: string }[]
}
interface Dashboard {
  uid: string
  title: string
  panels: Panel[]
  templating: { list: { query: string | { query: string } }[] }
}
interface Rules {
  groups: {
    name: string,
    rules: { alert: string, expr: string, labels: { severity: string }, annotations: { summary: string, do: string } }[]
  }[]
}

const folder = import.meta.dirname
const read = async (file: string) => await readFile(path.join(folder, file), 'utf8')

/** Every metric of a process, with its labels, as the code registers it. */
async function listMetrics () {
  // It adds those of Node and of the process.
  const { close } = await serveMetrics(0)
  await close()
  const metrics = new Map<string, string[]>([['up', []], ...Object.entries(exported)])
  for (const { name, type } of await registry.getMetricsAsJSON() as unknown as { name: string, type: unknown }[]) {
    const labels = (registry.getSingleMetric(name) as unknown as { labelNames: string[] }).labelNames
    metrics.set(name, labels)
    if (type === 'histogram') {
      for (const part of ['bucket', 'sum', 'count']) metrics.set(`${name}_${part}`, [...labels, 'le'])
    }
  }
  return metrics
}

// Metrics of exporters, which docs/operations.md lists.
const exported: Record<string, string[]> = {
  cnpg_pg_replication_lag: [],
  pg_replication_lag_seconds: [],
  barman_cloud_cloudnative_pg_io_last_available_backup_timestamp: [],
  // Written by deploy/docker/backup.sh.
  tandem_backup_last_success_timestamp_seconds: [],
  gnatsd_varz_mem: ['server_id'],
  kubelet_volume_stats_available_bytes: ['namespace', 'persistentvolumeclaim'],
  kubelet_volume_stats_capacity_bytes: ['namespace', 'persistentvolumeclaim'],
  node_filesystem_avail_bytes: ['mountpoint', 'fstype'],
  node_filesystem_size_bytes: ['mountpoint', 'fstype'],
  kube_horizontalpodautoscaler_status_current_replicas: ['namespace', 'horizontalpodautoscaler'],
  kube_horizontalpodautoscaler_spec_max_replicas: ['namespace', 'horizontalpodautoscaler'],
  probe_ssl_earliest_cert_expiry: [],
  certmanager_certificate_expiration_timestamp_seconds: ['name', 'namespace']
}

// What a server of Prometheus adds, by scrape.yml.
const added = ['job', 'instance']

/** The metrics of an expression, and the labels that it chooses or groups by. */
function readExpression (expression: string) {
  const labels = [...expression.matchAll(/\b(?:by|without) \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(/,\s*/)
  )
  const chosen = [...expression.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label]) => String(label))
  const bare = expression.replaceAll(/#.*/g, '').replaceAll(
    /\{[^}]*\}|"[^"]*"|\[[^\]]*\]|\b(?:by|without) \([^)]*\)/g,
    ' '
  )
  const metrics = [...bare.matchAll(/\b([a-z_]\w*)\b(?!\s*\()/g)].map(([, name]) => String(name)).filter((name) =>
    !['by', 'and', 'or', 'unless'].includes(name)
  )
  return { metrics, labels: [...labels, ...chosen] }
}

async function findErrors (expression: string) {
  const known = await listed
  const { metrics, labels } = readExpression(expression)
  const there = new Set([...added, ...metrics.flatMap((name) => known.get(name) ?? [])])
  return [
    ...metrics.length === 0 ? ['no metric'] : [],
    ...metrics.filter((name) => !known.has(name)).map((name) => `no metric ${name}`),
    ...labels.filter((label) => !there.has(label)).map((label) => `no label ${label}`)
  ]
}

const listed = listMetrics()
const ruleFiles = ['alerts.yml', 'servers.yml']

t.test('what no process tells is found', async (t) => {
  t.same(await findErrors('sum by (job) (rate(http_request_duration_seconds_count{route="/x"}[5m])) > 1'), [])
  t.same(await findErrors('http_requests_total'), ['no metric http_requests_total'])
  t.same(await findErrors('sum by (path) (rate(http_request_duration_seconds_count{code="x"}[5m]))'), [
    'no label path',
    'no label code'
  ])
})

t.test('every alert is about something that processes tell, and says what to do', async (t) => {
  const files = await Promise.all(ruleFiles.map(async (file) => parse(await read(file)) as Rules))
  const rules = files.flatMap(({ groups }) => groups.flatMap((group) => group.rules))
  t.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length, 'names are not given twice')
  for (const { alert, expr, labels, annotations } of rules) {
    t.same(await findErrors(expr), [], alert)
    t.match(labels.severity, /^(page|ticket)$/, alert)
    t.ok(annotations.summary, alert)
    t.ok(annotations.do, `${alert}: what to do`)
  }
})

t.test('what each replica of a service reads from the database is not added up', async (t) => {
  const shared: string[] = []
  for (const { name, type } of await registry.getMetricsAsJSON() as unknown as { name: string, type: unknown }[]) {
    const labels = (registry.getSingleMetric(name) as unknown as { labelNames: string[] }).labelNames
    if (type === 'gauge' && labels.includes('service')) shared.push(name)
  }
  t.match(new Set(shared), new Set(['cases_overdue', 'bus_dead_letters', 'mail_oldest_seconds']))
  const dashboards = await Promise.all(
    (await readdir(path.join(folder, 'dashboards'))).map(async (file) => await read(`dashboards/${file}`))
  )
  const text = [...await Promise.all(ruleFiles.map(read)), ...dashboards].join('\n')
  const added = [...text.matchAll(/\bsum(?: by \([^)]*\))? ?\((\w+)/g)].map(([, name]) => name)
  t.strictSame(added.filter((name) => shared.includes(name ?? '')), [])
})

t.test('every panel shows something that processes tell', async (t) => {
  const files = await readdir(path.join(folder, 'dashboards'))
  const dashboards = await Promise.all(
    files.map(async (file) => JSON.parse(await read(`dashboards/${file}`)) as Dashboard)
  )
  t.equal(new Set(dashboards.map(({ uid }) => uid)).size, dashboards.length)
  for (const { title, panels } of dashboards) {
    for (const panel of panels) {
      t.not(panel.targets.length, 0)
      for (const { expr } of panel.targets) t.same(await findErrors(expr), [], `${title}: ${panel.title}`)
    }
  }
})

t.test('the alerts are where the configuration of Prometheus names them', async (t) => {
  const { rule_files: files } = parse(await read('scrape.yml')) as { rule_files: string[] }
  t.same(files, ruleFiles)
})

t.test('the object of the Prometheus operator has all rules', async (t) => {
  t.equal(await readFile(rulesFile, 'utf8'), describeRules(), 'run npm run contracts')
})
