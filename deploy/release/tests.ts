import { listFiles } from '@tandem/local-servers/git.ts'
import { belongsTo, foldersOf, listReaders, readWorkspaces } from '../local/affected.ts'
import { readRelease } from '../contracts/records.ts'

/**
 * The tests before a release of one process: its own, those of the packages in its image that differ from its last
 * release, and those that read what differs by its path.
 */
export function listTests (root: string, name: string): string[] {
  const own = name === 'gateway' ? name : `services/${name}`
  const folders = [own, ...listDependencies(root, own)]
  const last = readRelease(root, name)
  const changed = last
    ? listFiles(root, 'diff', '--name-only', last.commit, '--', ...folders.flatMap(foldersOf))
    : listFiles(root, 'ls-files', '--', own)
  const isChanged = (folder: string) => changed.some((file) => belongsTo(folder, file))
  return [own, ...folders.slice(1).filter(isChanged), ...listReaders(changed)]
}

/** The folders of the packages that `folder` depends on, directly and indirectly, but for what only its tests use. */
function listDependencies (root: string, folder: string): string[] {
  const workspaces = readWorkspaces(root)
  const found = new Set<string>()
  const add = (each: string) => {
    for (const name of workspaces.find((workspace) => workspace.folder === each)?.runtimeDependencies ?? []) {
      const dependency = workspaces.find((workspace) => workspace.name === name)
      if (!dependency || found.has(dependency.folder)) continue
      found.add(dependency.folder)
      add(dependency.folder)
    }
  }
  add(folder)
  return [...found]
}
