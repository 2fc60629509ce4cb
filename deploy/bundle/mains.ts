import { existsSync, globSync } from 'node:fs'
import path from 'node:path'

/** The names of the services below `root`. */
export const listServices = (root: string): string[] =>
  globSync('services/*/main.ts', { cwd: root }).map((main) => path.basename(path.dirname(main))).sort()

/** The main modules of the processes below `root`, by the names of the processes. Bundles of the same ones are shared. */
export function listMains (root: string): Record<string, string> {
  const others = {
    'gateway': 'gateway/main.ts',
    'console': 'gateway/console/main.ts',
    'operator-cli': 'services/identity/operator/cli.ts'
  }
  return Object.fromEntries([
    ...listServices(root).map((name) => [name, `services/${name}/main.ts`]),
    ...Object.entries(others).filter(([, main]) => existsSync(path.join(root, main)))
  ])
}
