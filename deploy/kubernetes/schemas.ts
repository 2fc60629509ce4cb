import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { folder, type Manifest } from './build.ts'

type Model = new(manifest: Manifest) => { validate(): void }

// Its schema is in no package; the plugin that owns it checks it when it is applied.
const unknown = new Set(['barmancloud.cnpg.io/v1'])

function packageOf (apiVersion: string) {
  if (unknown.has(apiVersion)) return undefined
  const [group = ''] = apiVersion.split('/')
  if (group === 'gateway.networking.k8s.io') return `@kubernetes-models/gateway-api/${apiVersion}`
  if (group === 'postgresql.cnpg.io') return `@kubernetes-models/cloudnative-pg/${apiVersion}`
  return `kubernetes-models/${apiVersion}`
}

/** What is wrong with an object by the schema of its kind. */
export async function findErrors (manifest: Manifest): Promise<string[]> {
  const from = packageOf(manifest.apiVersion)
  if (!from) return []
  const where = `${manifest.kind} ${manifest.metadata?.name}`
  const models = await import(from).catch(() => ({})) as Record<string, Model>
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
 * Fields that a schema does not know are no errors by the schema, but an API server would refuse them, or worse, drop
 * them. The compiler finds them: to it each object is a literal of the type of its kind.
 */
export async function findStrangeFields (manifests: Manifest[]): Promise<string[]> {
  const lines = manifests.flatMap((manifest, index) => {
    const from = packageOf(manifest.apiVersion)
    return from
      ? [
        `import type { I${manifest.kind} as T${index} } from '${from}'; export const o${index}: T${index} = ${
          JSON.stringify(manifest)
        }`
      ]
      : []
  })
  const file = path.join(folder, 'node_modules/.cache', `manifests-${process.pid}.ts`)
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, lines.join('\n'))
  try {
    const compiler = path.resolve(folder, '../../node_modules/.bin/tsc')
    const { code, output } = await new Promise<{ code: unknown, output: string }>((resolve) =>
      execFile(
        'env', // The test runner's hook into every Node that a test starts does not bear with the compiler.
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
    const found = output.split('\n').filter((line) => / error TS\d+: /.test(line)).map((line) =>
      line.replace(/^.*? error /, '')
    )
    if (code !== 0 && found.length === 0) throw new Error(`the compiler failed: ${output}`)
    return found
  } finally {
    await rm(file)
  }
}
