import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { natsRights, type Messaging } from '@tandem/bus-kit'
import * as contracts from '@tandem/contracts'
import type { EventDefinition, RpcDefinition } from '@tandem/contracts'

const NO_PART_OF_A_SERVICE = /(^|\/)(node_modules|test|bench)\/|(^|\/)testing\.ts$|\.test\.ts$/

/**
 * What each service below `root` does on NATS. A service declares an event or an RPC by importing it from the
 * contracts: its own to publish or provide, another's to consume or call. What service-kit and account-kit import,
 * every service uses.
 */
export function readMessaging (root: string): Messaging[] {
  const folder = path.join(root, 'services')
  const importedByAll = listImports(path.join(root, 'packages/service-kit'))
    .union(listImports(path.join(root, 'packages/account-kit')))
  return readdirSync(folder).filter((name) => existsSync(path.join(folder, name, 'main.ts'))).sort().map((service) => {
    const imported = [...importedByAll.union(listImports(path.join(folder, service)))].sort().map((name) =>
      (contracts as Record<string, unknown>)[name]
    )
    const rpcs = imported.filter(isRpc)
    return {
      service,
      consumes: imported.filter(isEvent).filter((event) => event.service !== service),
      provides: rpcs.filter((rpc) => rpc.service === service),
      calls: rpcs.filter((rpc) => rpc.service !== service),
      sendsSignals: readSources(path.join(folder, service)).some(({ source }) => /\bpublishSignal\b/.test(source))
    }
  })
}

/** The rights of all services below `root`, as the configuration of a NATS server. */
export function readRights (root: string): string {
  return natsRights(readMessaging(root))
}

function listImports (folder: string): Set<string> {
  return new Set(
    readSources(folder).flatMap(({ file, source }) => {
      if (/\* as \w+ from '@tandem\/contracts'/.test(source)) {
        throw new Error(
          `${file} must import by name what it uses of the contracts: its rights on NATS are made of these names`
        )
      }
      return [...source.matchAll(/import \{([^}]*)\} from '@tandem\/contracts'/g)].flatMap(([, names = '']) =>
        names.split(',').map((name) => name.trim().split(' ')[0] ?? '')
      )
    })
  )
}

const readSources = (folder: string) =>
  globSync('**/*.ts', { cwd: folder }).filter((file) => !NO_PART_OF_A_SERVICE.test(file))
    .map((file) => ({ file, source: readFileSync(path.join(folder, file), 'utf8') }))

const isRpc = (value: unknown): value is RpcDefinition =>
  typeof value === 'object' && value !== null && 'response' in value && 'type' in value
const isEvent = (value: unknown): value is EventDefinition =>
  typeof value === 'object' && value !== null && 'data' in value && 'type' in value
