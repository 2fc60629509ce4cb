import { spawnSync } from 'node:child_process'
import { UserError } from './screen.ts'

// A document of the API has more than a megabyte.
const MAX_BYTES = 64 * 1024 * 1024

/** Runs git in `root`. @returns what it prints; undefined if it fails */
export function git (root: string, ...args: string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: MAX_BYTES })
  return status === 0 ? stdout : undefined
}

/** The files that a command of git lists. @throws if it fails */
export function listFiles (root: string, ...args: string[]): string[] {
  const text = git(root, ...args)
  if (text === undefined) throw new UserError(`git ${args.join(' ')} failed`)
  return text.split('\n').filter(Boolean)
}

/** The commit where the work tree left origin/main, or main in a repository without a remote; undefined if there is neither. */
export function findBase (root: string): string | undefined {
  for (const branch of ['origin/main', 'main']) {
    const base = git(root, 'merge-base', 'HEAD', branch)
    if (base) return base.trim()
  }
  return undefined
}

/** A file of a commit. @throws if the repository lacks the commit, as a shallow clone does */
export function readFileOf (root: string, commit: string, file: string): string {
  const text = git(root, 'show', `${commit}:${file}`)
  if (text === undefined) {
    throw new UserError(`git has no ${file} of ${commit}. Fetch the whole history: git fetch --unshallow --tags`)
  }
  return text
}
