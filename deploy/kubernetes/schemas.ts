import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { folder, type Manifest } from './build.ts'

type Model = new(manifest: Omit<Manifest, 'spec'>) => { validate(): void }

/**
 * No package has the schema of the ObjectStore of Barman. But its configuration is of the same type as that of the
 * backups in a Cluster, which has one.
 */
function withSchema (manifest: Manifest): Omit<Manifest, 'spec'> {
  if (manifest.apiVersion !== 'barmancloud.cnpg.io/v1' || manifest.kind !== 'ObjectStore') return manifest
  const { configuration, retentionPolicy, ...unknown }: Record<string, unknown> = manifest.spec ?? {}
  const backup = { barmanObjectStore: configuration, ...retentionPolicy !== undefined && { retentionPolicy } }
  const cluster = { instances: 1, storage: { size: '1Gi' }, backup, ...unknown }
  return Object.assign({}, manifest, { apiVersion: 'postgresql.cnpg.io/v1', kind: 'Cluster', spec: cluster })
}

function moduleOf (apiVersion: string) {
  const [group = ''] = apiVersion.split('/')
  if (group === 'gateway.networking.k8s.io') return `@kubernetes-models/gateway-api/${apiVersion}`
  if (group === 'monitoring.coreos.com') return `@kubernetes-models/prometheus-operator/${apiVersion}`
  if (group === 'postgresql.cnpg.io') return `@kubernetes-models/cloudnative-pg/${apiVersion}`
  return `kubernetes-models/${apiVersion}`
}

/** Validates an object against the schema of its kind; returns the errors. */
export async function findErrors (given: Manifest): Promise<string[]> {
  const manifest = withSchema(given)
  const module = moduleOf(manifest.apiVersion)
  const where = `${manifest.kind} ${manifest.metadata?.name}`
  const models = await import(module).catch(() => ({})) as Record<string, Model>
  const Model = models[manifest.kind]
  if (!Model) return [`${where}: ${manifest.apiVersion} has no such kind`]
  try {
    new Model(manifest).validate()
    return []
  } catch (error) {
    return [`${where}: ${(error as Error).message}`]
  }
}

/**
 * Finds fields that are not in the schema. The schema accepts them, but an API server would reject or drop them. The
 * compiler finds them, because it checks object literals for excess properties.
 */
export async function findUnknownFields (manifests: Manifest[]): Promise<string[]> {
  const lines = manifests.map(withSchema).map((manifest, index) => {
    const module = moduleOf(manifest.apiVersion)
    const [type, value] = [`T${index}`, JSON.stringify(manifest)]
    return `import type { I${manifest.kind} as ${type} } from '${module}'; export const o${index}: ${type} = ${value}`
  })
  const file = path.join(folder, 'node_modules/.cache', `manifests-${process.pid}.ts`)
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, lines.join('\n'))
  try {
    const compiler = path.resolve(folder, '../../node_modules/.bin/tsc')
    const { code, output } = await new Promise<{ code: unknown, output: string }>((resolve) =>
      execFile(
        'env', // The compiler cannot run with the module hooks that tap adds through NODE_OPTIONS.
        [
          '-u',
          'NODE_OPTIONS',
          compiler,
          '--ignoreConfig',
          '--noEmit',
          '--strict',
          '--skipLibCheck',
          '--pretty',
          'false',
          '--module',
          'nodenext',
          '--types',
          '',
          file
        ],
        (error, stdout, stderr) => resolve({ code: error?.code ?? 0, output: stdout + stderr })
      )
    )
    const errors = output.split('\n').filter((line) => / error TS\d+: /.test(line)).map((line) =>
      line.replace(/^.*? error /, '')
    )
    if (code !== 0 && errors.length === 0) throw new Error(`the compiler failed: ${output}`)
    return errors
  } finally {
    await rm(file)
  }
}
