import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findProgram } from '@tandem/local-servers/programs.ts'
import { start, type ProcessSpec } from '@tandem/local-servers/process.ts'

const rulesFolder = path.resolve(import.meta.dirname, '../../observability')
// As in deploy/docker/monitoring/prometheus.yml.
const SCRAPE_INTERVAL_S = 15
const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** What is scraped: the job, and the URL of its metrics. */
export type Targets = Map<string, string>

export interface Labels {
  alertname: string
  [name: string]: string
}

interface Alert {
  labels: Labels
  state: 'pending' | 'firing'
}

/**
 * Divides how long a condition must hold (`for`) and the ranges of queries (`[10m]`) by `factor`. The values that a rule
 * compares with stay as they are.
 */
export function shortenRules (rules: string, factor: number) {
  const shorten = (amount: string, unit: string) => `${Math.ceil(Number(amount) * SECONDS[unit]! / factor)}s`
  return rules
    .replaceAll(/^( +for: )(\d+)([smhd])$/gm, (_, before: string, amount, unit) => before + shorten(amount, unit))
    .replaceAll(/\[(\d+)([smhd])\]/g, (_, amount, unit) => `[${shorten(amount, unit)}]`)
}

/** Starts Prometheus with all rules, `factor` times as fast. It discovers what `setTargets` names, as in a cluster. */
export async function startPrometheus (folder: string, factor: number) {
  await mkdir(folder)
  const targetsFile = path.join(folder, 'targets.json')
  for (const file of ['alerts.yml', 'servers.yml']) {
    const rules = await readFile(path.join(rulesFolder, file), 'utf8')
    await writeFile(path.join(folder, file), factor === 1 ? rules : shortenRules(rules, factor))
  }
  const interval = `${SCRAPE_INTERVAL_S * 1_000 / factor}ms`
  await writeFile(
    path.join(folder, 'prometheus.yml'),
    `global: { scrape_interval: ${interval}, evaluation_interval: ${interval}, scrape_timeout: ${interval} }
rule_files: [alerts.yml, servers.yml]
scrape_configs:
  - job_name: tandem
    file_sd_configs: [{ files: [targets.json] }]
    relabel_configs: [{ source_labels: [path], target_label: __metrics_path__ }, { regex: path, action: labeldrop }]
`
  )

  async function setTargets (targets: Targets) {
    const list = [...targets].map(([job, url]) => {
      const { host, pathname } = new URL(url)
      return { targets: [host], labels: { job, path: pathname } }
    })
    // Prometheus reads the file whenever it changes, so it must never be half written.
    await writeFile(`${targetsFile}.part`, JSON.stringify(list))
    await rename(`${targetsFile}.part`, targetsFile)
  }
  await setTargets(new Map())

  const program = findProgram('prometheus')
  const recipe: ProcessSpec = {
    name: 'prometheus',
    port: 0,
    logFile: path.join(folder, 'log'),
    command: () => ({
      file: program,
      args: [
        `--config.file=${folder}/prometheus.yml`,
        `--storage.tsdb.path=${folder}/data`,
        `--web.listen-address=127.0.0.1:${recipe.port}`
      ]
    }),
    isReady: async () => (await fetch(`http://127.0.0.1:${recipe.port}/-/ready`)).ok
  }
  const { stop } = await start(recipe)
  const read = async <Data>(route: string) =>
    (await (await fetch(`http://127.0.0.1:${recipe.port}/api/v1/${route}`)).json() as { data: Data }).data

  return {
    setTargets,
    /** The labels of the alerts that fire now. */
    readFiring: async () =>
      (await read<{ alerts: Alert[] }>('alerts')).alerts.filter(({ state }) => state === 'firing').map(({ labels }) =>
        labels
      ),
    /** The jobs whose last scrape succeeded. */
    readHealthy: async () =>
      (await read<{ activeTargets: { labels: { job: string }, health: string }[] }>('targets')).activeTargets
        .filter(({ health }) => health === 'up').map(({ labels }) => labels.job),
    stop
  }
}
