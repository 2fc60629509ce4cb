import { execFile } from 'node:child_process'
import { glob } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'

/** A manifest of one Kubernetes object. */
export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string, namespace?: string, labels?: Record<string, string> }
  spec?: never
  data?: Record<string, string>
}

const run = promisify(execFile)

export const folder = import.meta.dirname

/** Why the overlays cannot be built on this machine, if they cannot. */
export const cannotBuild = await run('kubectl', ['kustomize', '--help']).then(
  () => false,
  () => 'kubectl is not installed'
)

/** Lists the YAML files of this folder. Packages are left out: their links lead back here. */
export async function listYamlFiles () {
  return (await Array.fromAsync(glob('**/*.yaml', { cwd: folder, exclude: ['node_modules'] }))).sort()
}

/** Lists the folders that can be applied: those with a kustomization that is not a component. */
export async function listKustomizations () {
  return (await listYamlFiles())
    .filter((file) => path.basename(file) === 'kustomization.yaml' && !file.startsWith('components'))
    .map((file) => path.dirname(file))
}

const builds = new Map<string, Promise<Manifest[]>>()

/** Returns what `kubectl apply -k` would send. Each folder is built once. */
export function build (kustomization: string): Promise<Manifest[]> {
  return builds.getOrInsertComputed(kustomization, async () => {
    const { stdout } = await run('kubectl', ['kustomize', path.join(folder, kustomization)], { maxBuffer: 2 ** 24 })
    return parse(stdout)
  })
}

/** @throws for invalid YAML and for duplicate keys */
export function parse (text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors[0]) throw document.errors[0]
    const value = document.toJS() as Manifest | null
    return value ? [value] : []
  })
}
