import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import type { TObject } from 'typebox'
import { parse as parseYaml } from 'yaml'
import { readConfig } from '@tandem/process-kit'
import { createRootKey } from '@tandem/http-kit/testing'
import { readGatewayConfig } from '../../gateway/config.ts'
import { readConsoleConfig } from '../../gateway/console/config.ts'
import { serviceNames as services } from '../../gateway/routes.ts'
import { Config as Fitmatch, createStores } from '../../services/fitmatch/config.ts'
import { build, cannotBuild, folder, listKustomizations, listYamlFiles, parse } from './build.ts'
import type { Manifest } from './build.ts'
import { findErrors, findUnknownFields } from './schemas.ts'
import { listConnections } from './connections.ts'

const skip = cannotBuild

interface Variable {
  name: string
  value?: string
  valueFrom?: { secretKeyRef: { name: string, key: string, optional?: boolean } }
}
interface Container {
  image: string
  args?: string[]
  env?: Variable[]
  envFrom?: { configMapRef: { name: string } }[]
  securityContext: Record<string, unknown>
  resources: Record<string, unknown>
  lifecycle?: unknown
  [probe: `${string}Probe`]: { httpGet: { path: string } } | undefined
}
interface Workload {
  spec: {
    selector: { matchLabels: Record<string, string> },
    strategy?: { rollingUpdate?: { maxUnavailable: unknown } },
    template: {
      metadata: { labels: Record<string, string> },
      spec: Record<string, unknown> & { containers: Container[] }
    }
  }
}

interface Resources {
  requests: { cpu: string, memory: string }
  limits: { memory: string }
}

/** Parses a quantity of CPUs, bytes or objects. */
function quantity (text: string) {
  const units: Record<string, number> = { '': 1, m: 0.001, Mi: 1024 ** 2, Gi: 1024 ** 3 }
  const [, number, unit = ''] = /^(\d+)(\w*)$/.exec(text) ?? []
  const factor = units[unit]
  if (!number || !factor) throw new Error(`not a known quantity: ${text}`)
  return Number(number) * factor
}

const find = (manifests: Manifest[], kind: string, name: string) => {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name)
  if (!found) throw new Error(`no ${kind} named ${name}`)
  return found
}
const workload = (manifests: Manifest[], kind: string, name: string) =>
  find(manifests, kind, name) as unknown as Workload
const containerOf = ({ spec }: Workload) => spec.template.spec.containers[0] as Container

t.test('every file is valid YAML and refers only to files that exist', async (t) => {
  for (const file of await listYamlFiles()) {
    const manifests = parse(await readFile(path.join(folder, file), 'utf8'))
    if (path.basename(file) !== 'kustomization.yaml') continue
    const { resources = [], components = [], patches = [], configMapGenerator = [] } =
      manifests[0] as unknown as Record<string, never[]>
    const named: string[] = [
      ...resources,
      ...components,
      ...patches.flatMap(({ path }) => path ?? []),
      ...configMapGenerator.flatMap(({ files = [], envs = [] }) => [...files, ...envs])
    ]
    for (const each of named) t.ok(existsSync(path.join(folder, path.dirname(file), each)), `${file}: ${each}`)
  }
})

t.test(
  'every object is valid by its schema and has no unknown fields',
  { skip },
  async (t) => {
    const all: Manifest[] = []
    for (const each of await listKustomizations()) {
      const manifests = await build(each)
      t.not(manifests.length, 0, each)
      t.same((await Promise.all(manifests.map(findErrors))).flat(), [], each)
      t.notOk(manifests.some(({ kind }) => kind === 'Secret'), `${each} contains no Secret`)
      if (each.startsWith('overlays')) all.push(...manifests)
    }
    t.same(await findUnknownFields(all), [])
  }
)

t.test('validation finds wrong types, kinds and unknown fields', async (t) => {
  const pod = (container: object) =>
    ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'x' },
      spec: { containers: [{ name: 'x', ...container }] }
    }) as unknown as Manifest
  t.same(await findErrors(pod({ image: 'x' })), [])
  t.match(await findErrors(pod({ image: 5 })), [/Pod x: .*image must be string/])
  t.match(await findErrors({ ...pod({}), apiVersion: 'apps/v1' }), [/apps\/v1 has no such kind/])
  t.match(await findUnknownFields([pod({ image: 'x' }), pod({ immage: 'x' })]), [/immage/])
  const store = (configuration: object) =>
    ({
      apiVersion: 'barmancloud.cnpg.io/v1',
      kind: 'ObjectStore',
      metadata: { name: 'x' },
      spec: { configuration }
    }) as unknown as Manifest
  t.same(await findErrors(store({ destinationPath: 's3://x/' })), [])
  t.match(await findErrors(store({ destinationPath: 's3://x/', wal: { compression: 'rar' } })), [/compression/])
  t.match(await findUnknownFields([store({ destinationPath: 's3://x/', endpoint: 'x' })]), [/endpoint/])
})

for (const overlay of ['local', 'production', 'production-ingress', 'production-console']) {
  const hasConsole = overlay === 'production-console'
  const processes = ['gateway', ...services, ...hasConsole ? ['console'] : []]
  t.test(overlay, { skip }, async (t) => {
    const manifests = await build(`overlays/${overlay}`)

    t.test('each process starts with the configuration of the manifests', async () => {
      const dockerfile = (await readFile(path.join(folder, '../docker/Dockerfile'), 'utf8')).replaceAll(/\\\n\s*/g, '')
      const image = [...dockerfile.matchAll(/^ENV (.*)$/gm)].map(([, pairs]) => pairs).join(' ')
      // What make-secrets.sh, or an operator, puts into the ConfigMap identity-root.
      const rootKeys = { IDENTITY_ROOT_PUBLIC_KEYS: createRootKey().publicText }
      const values = find(manifests, 'ConfigMap', 'tandem').data ?? {}
      const environment = (name: string) => ({
        ...Object.fromEntries(image.split(' ').map((pair) => pair.split('='))),
        ...values,
        ...rootKeys,
        ...Object.fromEntries(
          (containerOf(workload(manifests, 'Deployment', name)).env ?? []).map((
            { name, value, valueFrom }
          ) => [name, value ?? secret(valueFrom?.secretKeyRef.key)])
        )
      })
      const secret = (key = '') =>
        key.endsWith('_URL') ? 'scheme://user:password@host:1' : 'a secret that is long enough for every service'
      for (const name of services) {
        const { Config } = await import(`../../services/${name}/config.ts`) as { Config: TObject }
        readConfig(Config, environment(name))
      }
      createStores(readConfig(Fitmatch, environment('fitmatch')))
      const { upstreams, DOCS, floodLimit, TRUST_PROXY } = readGatewayConfig(environment('gateway'))
      if (overlay !== 'local') t.notMatch(TRUST_PROXY, ['uniquelocal'], 'clients cannot choose their address')
      t.equal(DOCS, overlay === 'local' ? 'on' : 'off', 'the API documents are served locally only')
      t.ok(floodLimit, 'the flood limit is on')
      t.throws(() => readGatewayConfig({ ...environment('gateway'), LIMIT_PROFILE: 'relaxed' }), {
        message: /LIMIT_PROFILE must not be relaxed/
      })
      t.same(upstreams, Object.fromEntries(services.map((name) => [name, `http://${name}:8080`])))
    })

    t.test('every image has a version, and can be pinned in the overlay', async (t) => {
      for (const { kind, metadata, ...workload } of manifests) {
        for (const [, image = ''] of JSON.stringify(workload).matchAll(/"image":"([^"]+)"/g)) {
          t.match(image, /:(?!latest)[\w.-]+$/, `${kind} ${metadata.name}`)
        }
      }
    })

    t.test('each process is hardened, has probes, and shuts down gracefully', async (t) => {
      for (const name of processes) {
        const deployment = workload(manifests, 'Deployment', name)
        const container = containerOf(deployment)
        t.match(deployment.spec, {
          strategy: { rollingUpdate: { maxUnavailable: 0 } },
          selector: { matchLabels: { 'app.kubernetes.io/name': name } },
          template: {
            spec: {
              serviceAccountName: name,
              automountServiceAccountToken: false,
              terminationGracePeriodSeconds: 45,
              securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
              topologySpreadConstraints: [
                {
                  topologyKey: 'kubernetes.io/hostname',
                  whenUnsatisfiable: 'DoNotSchedule',
                  labelSelector: { matchLabels: { 'app.kubernetes.io/name': name } }
                },
                { labelSelector: { matchLabels: { 'app.kubernetes.io/name': name } } }
              ]
            }
          }
        })
        t.match(container, {
          startupProbe: { httpGet: { path: '/health/live' } },
          livenessProbe: { httpGet: { path: '/health/live' } },
          readinessProbe: { httpGet: { path: '/health/ready' } },
          lifecycle: { preStop: { sleep: { seconds: 8 } } },
          resources: { requests: { cpu: String, memory: String }, limits: { memory: String } },
          envFrom: [{ configMapRef: { name: 'tandem' } }, { configMapRef: { name: 'identity-root' } }],
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] }
          }
        })
        find(manifests, 'ServiceAccount', name)
        find(manifests, 'PodDisruptionBudget', name)
        if (overlay !== 'local') {
          t.match(find(manifests, 'HorizontalPodAutoscaler', name), {
            spec: { minReplicas: name === 'console' ? 1 : 2, scaleTargetRef: { name } }
          })
        }

        const pods = manifests.filter(({ kind }) => ['Deployment', 'Job', 'StatefulSet'].includes(kind)).map((
          manifest
        ) => manifest as unknown as Workload)
        const { selector } = find(manifests, 'Service', name).spec as unknown as { selector: Record<string, string> }
        t.equal(
          pods.filter(({ spec }) =>
            Object.entries(selector).every(([key, value]) => spec.template.metadata.labels[key] === value)
          ).length,
          1,
          `the Service ${name} selects only its own pods`
        )
      }
    })

    t.test('each schema is migrated by the image of its service', async (t) => {
      for (const name of services) {
        const job = containerOf(workload(manifests, 'Job', `${name}-migration`))
        t.same(job.args, [`services/${name}`])
        t.equal(job.image, containerOf(workload(manifests, 'Deployment', name)).image)
        t.match(job.image, overlay === 'local' ? `tandem/${name}:local` : new RegExp(`^registry\\..*/${name}:\\d`))
        t.match(job.env, [
          { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name, key: 'DATABASE_URL' } } },
          { name: 'ADMIN_DATABASE_URL', valueFrom: { secretKeyRef: { name: 'database-admin', optional: true } } }
        ])
      }
    })

    t.test('a process reads its own secrets only', async (t) => {
      for (const name of ['gateway', 'streams', ...services]) {
        const references = (containerOf(workload(manifests, 'Deployment', name)).env ?? []).flatMap(({ valueFrom }) =>
          valueFrom?.secretKeyRef ?? []
        )
        t.same(new Set(references.map((reference) => reference.name)), new Set([name]))
      }
    })
  })
}

t.test(
  'gateways of realtime connections have the image, the proxies and the priority of the others',
  { skip },
  async (t) => {
    const manifests = await build('overlays/production-realtime')
    const describe = (name: string) => {
      const deployment = workload(manifests, 'Deployment', name)
      const { image, env = [] } = containerOf(deployment)
      const proxies = env.filter((variable) => variable.name === 'TRUST_PROXY')
      return { image, proxies, priority: deployment.spec.template.spec['priorityClassName'] }
    }
    t.match(describe('gateway'), { image: /^registry\./, proxies: [{ value: String }], priority: 'tandem' })
    t.same(describe('gateway-realtime'), describe('gateway'))
  }
)

t.test('the console is closed, and is in no other overlay', { skip }, async (t) => {
  const manifests = await build('overlays/production-console')
  const { spec } = find(manifests, 'Service', 'console') as unknown as { spec: { type?: string } }
  t.equal(spec.type ?? 'ClusterIP', 'ClusterIP')
  const entrances = manifests.filter(({ kind }) => ['Ingress', 'HTTPRoute', 'Gateway'].includes(kind))
  t.notMatch(JSON.stringify(entrances), /console/)
  const console = containerOf(workload(manifests, 'Deployment', 'console'))
  t.equal(console.image, containerOf(workload(manifests, 'Deployment', 'gateway')).image)
  const values = Object.fromEntries((console.env ?? []).map(({ name, value }) => [name, value]))
  t.equal(readConsoleConfig(values).origin, 'http://localhost:8090')
  for (const overlay of ['local', 'production']) {
    t.notOk((await build(`overlays/${overlay}`)).some(({ metadata: { name } }) => name.startsWith('console')), overlay)
  }
})

t.test('the quota has room for every autoscaler at its maximum during a rollout of everything', { skip }, async (t) => {
  for (const overlay of ['production', 'production-ingress', 'production-console', 'production-realtime']) {
    const manifests = await build(`overlays/${overlay}`)
    const used = { pods: 0, 'requests.cpu': 0, 'requests.memory': 0, 'limits.memory': 0 }
    for (const { kind, metadata: { name } } of manifests) {
      if (kind !== 'Deployment' && kind !== 'Job') continue
      const autoscaler = manifests.find((each) =>
        each.kind === 'HorizontalPodAutoscaler' && each.metadata.name === name
      )
      const { maxReplicas = 1 } = (autoscaler?.spec ?? {}) as { maxReplicas?: number }
      const pods = kind === 'Job' ? 1 : maxReplicas + 1
      const { requests, limits } = containerOf(workload(manifests, kind, name)).resources as unknown as Resources
      used.pods += pods
      used['requests.cpu'] += pods * quantity(requests.cpu)
      used['requests.memory'] += pods * quantity(requests.memory)
      used['limits.memory'] += pods * quantity(limits.memory)
    }
    const { hard } = find(manifests, 'ResourceQuota', 'tandem').spec as unknown as { hard: Record<string, string> }
    for (const [name, amount] of Object.entries(used)) {
      const allowed = quantity(String(hard[name]))
      t.ok(amount <= allowed, `${overlay}: ${name} ${amount} of ${allowed}`)
      t.ok(overlay !== 'production' || amount > allowed * 0.6, `${name} is not far above what is used: ${amount}`)
    }
  }
})

t.test('one process creates the streams of all services', { skip }, async (t) => {
  for (const overlay of ['local', 'production']) {
    const manifests = await build(`overlays/${overlay}`)
    const { spec } = workload(manifests, 'Deployment', 'streams')
    const container = containerOf({ spec })
    t.same(container.args, services)
    t.equal(container.image, containerOf(workload(manifests, 'Deployment', 'identity')).image)
    t.match(spec.template.spec, {
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }
    })
    t.match(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] }
    })
  }
})

t.test('Redis and NATS receive the password of each of their users', { skip }, async (t) => {
  const manifests = await build('overlays/local')
  const files = { redis: 'components/redis-users/users.acl', nats: 'components/nats-rights/rights.conf' }
  for (const [name, file] of Object.entries(files)) {
    const wanted = [...(await readFile(path.join(folder, file), 'utf8')).matchAll(/\$(\w+_PASSWORD)/g)].map((
      [, variable]
    ) => String(variable))
    const given = (containerOf(workload(manifests, 'StatefulSet', name)).env ?? []).map((variable) => variable.name)
    t.same(given.sort(), wanted.sort(), name)
  }
  const values = await readFile(path.join(folder, 'overlays/production/data/nats-values.yaml'), 'utf8')
  for (
    const [, variable = ''] of (await readFile(path.join(folder, files.nats), 'utf8')).matchAll(/\$(\w+_PASSWORD)/g)
  ) t.match(values, `key: ${variable} }`)
})

t.test('the folder of a service contains all of its objects', { skip }, async (t) => {
  for (const name of services) {
    const kinds = (await build(`base/${name}`)).map(({ kind }) => kind)
    t.same(kinds.sort(), [
      'Deployment',
      'HorizontalPodAutoscaler',
      'Job',
      'PodDisruptionBudget',
      'Service',
      'ServiceAccount'
    ])
  }
})

t.test('what is a secret in compose is one in a cluster', { skip }, async (t) => {
  const compose = await readFile(path.join(folder, '../../docker-compose.yml'), 'utf8')
  const { services: containers } = parseYaml(compose, { merge: true }) as {
    services: Record<string, { environment: Record<string, string> }>
  }
  const manifests = await build('overlays/production')
  for (const name of services) {
    const { Config } = await import(`../../services/${name}/config.ts`) as { Config: TObject }
    const wanted = Object.keys(Config.properties).filter((variable) =>
      containers[name]?.environment[`${variable}_FILE`] === `/run/secrets/${variable}`
    )
    const given = containerOf(workload(manifests, 'Deployment', name)).env?.filter(({ valueFrom }) => valueFrom)
    t.same(given?.map((variable) => variable.name).sort(), wanted.sort(), name)
  }
})

t.test('Prometheus scrapes each process whose metrics it can reach', { skip }, async (t) => {
  const manifests = await build('overlays/production-console')
  const names = Object.entries(listConnections(manifests).in).filter(([, from]) => from.includes('monitoring/:9090'))
  const reachable = names.map(([name]) =>
    workload(manifests, 'Deployment', name).spec.template.metadata.labels['app.kubernetes.io/component']
  )
  const wanted = [...new Set(reachable.map((component) => String(component)))].sort()
  t.same(wanted, ['console', 'gateway', 'service', 'streams'])
  const monitor = JSON.stringify(find(await build('overlays/production-monitoring'), 'PodMonitor', 'tandem'))
  t.same(/"operator":"In","values":\[([^\]]+)\]/.exec(monitor)?.[1]?.replaceAll('"', '').split(',').sort(), wanted)
  const scraped = await readFile(path.join(folder, '../observability/scrape.yml'), 'utf8')
  t.same(/_component\], regex: ([\w|]+)/.exec(scraped)?.[1]?.split('|').sort(), wanted)
})

t.test('docs/operations.md names every secret', { skip }, async (t) => {
  const manual = await readFile(path.join(folder, '../../docs/operations.md'), 'utf8')
  const secrets = new Set(
    JSON.stringify(await build('overlays/production')).matchAll(/"secretKeyRef":\{"key":"(\w+)"/g).map(([, key]) =>
      String(key)
    )
  )
  t.not(secrets.size, 0)
  for (const key of secrets) t.match(manual, key)
  const volumes = JSON.stringify(await build('overlays/production')).matchAll(/"secretName":"([\w-]+)"/g)
  for (const [, name] of volumes) t.match(manual, `| \`${name}\` |`)
  for (const user of ['OPERATOR', 'STREAMS', 'GATEWAY']) t.match(manual, `\`NATS_${user}_PASSWORD\``)
})
