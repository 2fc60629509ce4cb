import { watch } from 'node:fs'
import path from 'node:path'
import type { System } from './system.ts'
import { screen } from '@tandem/local-servers/screen.ts'

const DEBOUNCE_MS = 150
// Files that never affect a running process.
const IGNORED = /(^|\/)(node_modules|\.tap)(\/|$)|\.test\.ts$|\.md$|~$|\.sw.$/

/**
 * Restarts the processes that a changed file affects: its service, the gateway, the console, or all for a package. Changes
 * before `started` wait.
 */
export function watchSources (root: string, system: System, started: Promise<void>): () => void {
  const processes = new Map(system.processes().map((process) => [process.name, process]))
  const all = [...processes.keys()]
  const changed = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined

  const restart = () => {
    for (const [name, file] of changed) {
      const process = processes.get(name)
      const migrated = system.services.has(name) ? system.migrate(name) : Promise.resolve()
      migrated.then(
        () => process?.restart(`${file} changed`),
        (error: Error) => screen.fail(`${name}: ${error.message}`)
      )
    }
    changed.clear()
  }

  const affectedBy = (file: string) => {
    const [folder, name = ''] = file.split(path.sep)
    // The console imports modules of the gateway, but not the other way round.
    if (folder === 'gateway') return name === 'console' ? ['console'] : ['gateway', 'console']
    if (folder === 'services') return system.services.has(name) ? [name] : []
    return all
  }

  const watchers = ['gateway', 'services', 'packages'].map((folder) =>
    watch(path.join(root, folder), { recursive: true, ignore: IGNORED }, (_event, name) => {
      if (!name || IGNORED.test(name)) return
      const file = path.join(folder, name)
      for (const each of affectedBy(file)) changed.set(each, file)
      clearTimeout(timer)
      timer = setTimeout(() => void started.then(restart, () => {}), DEBOUNCE_MS)
    })
  )
  return () => {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  }
}
