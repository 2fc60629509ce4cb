import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
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

/** Whether this machine can build an overlay. */
export const canBuild = await run('kubectl', ['kustomize', '--help']).then(() => true, () => false)

/** All folders that can be applied: each has a kustomization that is no component. */
export async function listKustomizations () {
  const files = await readdir(folder, { recursive: true })
  return files
    .filter((file) => path.basename(file) === 'kustomization.yaml' && !file.includes('node_modules') && !file.startsWith('components'))
    .map((file) => path.dirname(file))
    .sort()
}

const built = new Map<string, Promise<Manifest[]>>()

/** What `kubectl apply -k` would send; built once. */
export function build (kustomization: string): Promise<Manifest[]> {
  const known = built.get(kustomization) ?? run('kubectl', ['kustomize', path.join(folder, kustomization)], { maxBuffer: 2 ** 24 }).then(({ stdout }) => parse(stdout))
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
