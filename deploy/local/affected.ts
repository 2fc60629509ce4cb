import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { UserError } from '@tandem/local-servers/screen.ts'

interface Workspace {
  folder: string
  name: string
  dependencies: string[]
}

/** The folders of packages that differ from origin/main (committed or not), and of their dependents. */
export function listAffectedFolders (root: string): string[] {
  const workspaces = readWorkspaces(root)
  const changed = listChangedFiles(root)
  const affected = new Set(
    workspaces.filter(({ folder }) => changed.some((file) => file.startsWith(`${folder}/`))).map(({ name }) => name)
  )
  for (let size = -1; size !== affected.size;) {
    size = affected.size
    for (const { name, dependencies } of workspaces) {
      if (dependencies.some((each) => affected.has(each))) affected.add(name)
    }
  }
  return workspaces.filter(({ name }) => affected.has(name)).map(({ folder }) => folder)
}

function readWorkspaces (root: string): Workspace[] {
  return globSync(['gateway/package.json', '{services,packages,deploy,examples}/*/package.json'], { cwd: root }).map(
    (file) => {
      const { name, dependencies = {}, devDependencies = {} } = JSON.parse(
        readFileSync(path.join(root, file), 'utf8')
      ) as { name: string, dependencies?: object, devDependencies?: object }
      return { folder: path.dirname(file), name, dependencies: Object.keys({ ...dependencies, ...devDependencies }) }
    }
  )
}

function listChangedFiles (root: string): string[] {
  const git = (...args: string[]) => {
    const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
    if (status !== 0) throw new UserError(`git ${args.join(' ')} failed: --affected compares with origin/main`)
    return stdout.split('\n').filter(Boolean)
  }
  const [base = ''] = git('merge-base', 'HEAD', 'origin/main')
  return [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')]
}
