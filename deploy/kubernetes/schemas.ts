import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { folder, type Manifest } from './build.ts'

type Model = new(manifest: Manifest) => { validate(): void }

// No package has its schema; its operator validates it when it is applied.
const unvalidated = new Set(['barmancloud.cnpg.io/v1'])

function moduleOf (apiVersion: string) {
  if (unvalidated.has(apiVersion)) return undefined
  const [group = ''] = apiVersion.split('/')
  if (group === 'gateway.networking.k8s.io') return `@kubernetes-models/gateway-api/${apiVersion}`
  if (group === 'monitoring.coreos.com') return `@kubernetes-models/prometheus-operator/${apiVersion}`
  if (group === 'postgresql.cnpg.io') return `@kubernetes-models/cloudnative-pg/${apiVersion}`
  return `kubernetes-models/${apiVersion}`
}

/** Validates an object against the schema of its kind; returns the errors. */
export async function findErrors (manifest: Manifest): Promise<string[]> {
  const module = moduleOf(manifest.apiVersion)
  if (!module) return []
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
  const lines = manifests.flatMap((manifest, index) => {
    const module = moduleOf(manifest.apiVersion)
    if (!module) return []
    const [type, value] = [`T${index}`, JSON.stringify(manifest)]
    return [`import type { I${manifest.kind} as ${type} } from '${module}'; export const o${index}: ${type} = ${value}`]
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
