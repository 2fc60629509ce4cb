import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** The release of a process that is deployed, as `deploy/release.sh` records it. */
export interface Release {
  /** The gateway, or a service. */
  name: string
  version: string
  /** The commit that its image was built from. */
  commit: string
  image: string
  digest: string
  /** The types of events and RPCs that this version uses of others, and the RPCs that it provides. */
  consumes: string[]
  calls: string[]
  provides: string[]
  /** Of the gateway: the first segments of the paths that it sends to each service. */
  prefixes?: Record<string, readonly string[]>
}

export const recordFile = (name: string) => `deploy/release/records/${name}.json`

export function readRelease (root: string, name: string): Release | undefined {
  const file = path.join(root, recordFile(name))
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) as Release : undefined
}
