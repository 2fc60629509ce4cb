import { existsSync, globSync } from 'node:fs'
import path from 'node:path'

/** The main modules of the processes below `root`, by the names of the processes. Bundles of the same ones are shared. */
export function listMains (root: string): Record<string, string> {
  const services = globSync('services/*/main.ts', { cwd: root }).sort()
  const others = {
    'gateway': 'gateway/main.ts',
    'console': 'gateway/console/main.ts',
    'operator-cli': 'services/identity/operator/cli.ts'
  }
  return Object.fromEntries([
    ...services.map((main) => [path.basename(path.dirname(main)), main]),
    ...Object.entries(others).filter(([, main]) => existsSync(path.join(root, main)))
  ])
}
