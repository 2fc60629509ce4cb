import { readFileSync } from 'node:fs'
import path from 'node:path'
import * as contracts from '@tandem/contracts'
import type { EventDefinition, RpcDefinition } from '@tandem/contracts'
import { readMessaging } from '@tandem/nats/messaging.ts'
import { BASE_PATH, serviceNames, servicePrefixes } from '../../gateway/routes.ts'
import { listRoutes } from './routes.ts'

type Names = readonly string[]
type Definition = EventDefinition | RpcDefinition

/**
 * The parts of files outside `services/` that name every service. In the file a region stands between the comments
 * `generated: <kind>` and `end generated`.
 */
const regions: Record<string, (names: Names, root: string) => string[]> = {
  'names': (names) => names.map((name) => `- ${name}`),
  'NATS secrets': (names) => natsSecrets(names, (variable) => [`- name: ${variable}`]),
  'NATS secrets by name': (names) => natsSecrets(names, (variable) => [`${variable}:`]),
  'addresses': (names) => names.map((name) => `${name.toUpperCase()}_URL: http://${name}:8080`),
  'address variables': (names) =>
    names.map((name) => `- { name: ${name.toUpperCase()}_URL, value: "http://${name}:8080" }`),
  'dependencies': (names) => names.map((name) => `${name}: { condition: service_healthy }`),
  'bases': (names) => names.map((name) => `- ../../base/${name}`),
  'image versions': (names) => names.map((name) => `TANDEM_${name.toUpperCase()}_VERSION=local`),
  'local images': (names) => names.map((name) => `- { name: tandem/${name}, newTag: local }`),
  'processes': (names) => [`expr: up{job=~"gateway|gateway-realtime|console|streams|${names.join('|')}"} == 0`],
  'absent processes': (names) => names.map((name) => `or absent(up{job="${name}"})`),
  'compose targets': (names) => names.map((name) => `- { targets: ["${name}:9090"], labels: { job: ${name} } }`),
  'owners': (names) =>
    names.flatMap((name) => [
      `/services/${name}/ @tandem/${name}`,
      `/packages/contracts/${name}.ts @tandem/${name}`,
      `/packages/contracts/samples/${name}.* @tandem/${name}`,
      `/deploy/kubernetes/base/${name}/ @tandem/${name}`
    ]),
  'services': (names, root) =>
    table(`| Part | What it owns | Paths, below \`${BASE_PATH}\` |`, [
      '| [gateway](gateway/README.md) | nothing: verifies tokens, limits, proxies | all |',
      ...names.map((name) =>
        `| [${name}](services/${name}/README.md) | ${readDescription(root, name)} | ${paths(name)} |`
      )
    ]),
  'secrets': (names, root) =>
    table(
      '| Secret | Keys |',
      ['gateway', ...names].map((name) => `| \`${name}\` | ${listSecrets(root, name).join(' ')} |`)
    )
}

/** The files that contain regions. */
export const filesWithRegions = [
  '.env.example',
  'CODEOWNERS',
  'README.md',
  'deploy/kubernetes/base/console/deployment.yaml',
  'deploy/kubernetes/base/gateway/deployment.yaml',
  'deploy/kubernetes/base/streams/deployment.yaml',
  'deploy/kubernetes/overlays/local/data.yaml',
  'deploy/kubernetes/overlays/local/kustomization.yaml',
  'deploy/kubernetes/overlays/production/data/nats-values.yaml',
  'deploy/kubernetes/overlays/production/kustomization.yaml',
  'deploy/docker/monitoring/prometheus.yml',
  'deploy/observability/alerts.yml',
  'docker-compose.yml',
  'docs/operations.md'
]

const guardsFile = 'deploy/contracts/package.json'

/** The lists in the README of one service: its routes, and what it does on NATS. */
const messagingRegions = ['publishes', 'consumes', 'provides', 'calls'] as const
const readmeRegions = ['serves', ...messagingRegions]

const region = /^([ \t]*)(?:#|<!--) generated: (.+?)(?: -->)?\n([\s\S]*?)^[ \t]*(?:#|<!--) end generated(?: -->)?$/gm

/** The content that each file should have, by its path below `root`. */
export function generateRegions (root: string): Map<string, string> {
  const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
  const files = new Map(filesWithRegions.map((file) => [
    file,
    fillRegions(read(file), (kind) => regions[kind]?.(serviceNames, root), Object.keys(regions))
  ]))
  for (const [service, lists] of listMessaging(root)) {
    const file = `services/${service}/README.md`
    const linesOf = (kind: string) => kind === 'serves' ? listRoutes(root, service) : lists.get(kind)
    files.set(file, fillRegions(read(file), linesOf, readmeRegions))
  }
  return files.set(guardsFile, addGuarded(read(guardsFile)))
}

function fillRegions (text: string, generate: (kind: string) => string[] | undefined, kinds: Names): string {
  return text.replaceAll(region, (whole: string, indent: string, kind: string, content: string) => {
    const lines = generate(kind)
    if (!lines) throw new Error(`there is no region "${kind}"; the regions are ${kinds.join(', ')}`)
    const start = whole.indexOf('\n') + 1
    return whole.slice(0, start) + lines.map((line) => `${indent}${line}\n`).join('') +
      whole.slice(start + content.length)
  })
}

// The guards of the contracts load every service, so `--affected` runs them after a change of any.
function addGuarded (text: string): string {
  const manifest = JSON.parse(text) as { devDependencies: Record<string, string> }
  for (const name of serviceNames) manifest.devDependencies[`@tandem/${name}`] = 'workspace:*'
  manifest.devDependencies = Object.fromEntries(
    Object.entries(manifest.devDependencies).sort(([a], [b]) => a < b ? -1 : 1)
  )
  return `${JSON.stringify(manifest, undefined, 2)}\n`
}

/** The lists of each service, by region. What every service does through a kit is in the kit's README alone. */
export function listMessaging (root: string): Map<string, Map<string, string[]>> {
  const shared = readFileSync(path.join(root, 'packages/account-kit/README.md'), 'utf8')
  const isShared = ({ type }: Definition) =>
    type === contracts.SigningKeys.type || shared.includes(`\`${type}\``) ||
    shared.includes(type.replace(/^\w+/, '<service>'))
  return new Map(
    readMessaging(root).map(({ service, consumes, provides, calls }) => {
      const published = Object.values<unknown>(contracts).filter((each): each is EventDefinition =>
        isEvent(each) && each.service === service
      )
      const lists = { publishes: published, consumes, provides, calls }
      return [service, new Map(messagingRegions.map((kind) => [kind, listTypes(lists[kind], isShared)]))]
    })
  )
}

/** A line for each service that owns some of the definitions. */
function listTypes (definitions: readonly Definition[], isShared: (definition: Definition) => boolean): string[] {
  const own = definitions.filter((each) => !isShared(each))
  return [...Map.groupBy(own, ({ service }) => service)].sort(([a], [b]) => a < b ? -1 : 1).map(([, group]) =>
    `- ${group.map(({ type }) => `\`${type}\``).sort().join(', ')}`
  )
}

const isEvent = (value: unknown): value is EventDefinition =>
  typeof value === 'object' && value !== null && 'data' in value && 'type' in value

// A comment between two rows would end the table.
const table = (header: string, rows: string[]) => [header, header.replaceAll(/[^|]+/g, '---'), ...rows]

function natsSecrets (names: Names, entry: (variable: string) => string[]): string[] {
  return names.map((name) => `NATS_${name.toUpperCase()}_PASSWORD`).flatMap((variable) => [
    ...entry(variable),
    `  valueFrom: { secretKeyRef: { name: nats, key: ${variable} } }`
  ])
}

const paths = (name: string) =>
  (servicePrefixes as Record<string, readonly string[]>)[name]?.map((prefix) => `\`${prefix}\``).join(' ') ?? ''

function readDescription (root: string, name: string): string {
  const file = `services/${name}/package.json`
  const { description } = JSON.parse(readFileSync(path.join(root, file), 'utf8')) as { description?: string }
  if (!description) throw new Error(`${file} needs a description: what the service owns`)
  return description
}

/** The keys of a service's Secret, from the manifest that reads them. */
function listSecrets (root: string, name: string): string[] {
  const manifest = readFileSync(path.join(root, `deploy/kubernetes/base/${name}/deployment.yaml`), 'utf8')
  return [...manifest.matchAll(/secretKeyRef: \{ name: [\w-]+, key: (\w+)(, optional: true)?/g)]
    .map(([, key, optional]) => `\`${key}\`${optional ? ' (optional)' : ''}`)
}
