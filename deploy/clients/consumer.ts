import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { checkPackage, createPackageFromTarballData, type Analysis, type Problem } from '@arethetypeswrong/core'
import { publint } from 'publint'
import type { Teardown } from '@tandem/test-kit'

export const root = path.resolve(import.meta.dirname, '../..')

/** A folder outside of this repository, for a project of somebody who installs the packages. */
export function createConsumer (t: Teardown) {
  const folder = mkdtempSync(path.join(tmpdir(), 'tandem-package-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))

  async function run (program: string, args: string[], cwd = folder) {
    const npm = { npm_config_cache: path.join(folder, '.npm'), npm_config_offline: 'true' }
    // tsc takes a third less CPU without garbage collection, and with one checker, as each has its own copy of types.
    const env = { ...process.env, ...npm, GOGC: 'off' }
    try {
      return (await promisify(execFile)(program, args, { cwd, env, maxBuffer: 10_000_000 })).stdout
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string, stderr: string }
      throw new Error(`${program} ${args.join(' ')}: ${stdout.slice(-3_000)}${stderr.slice(-2_000)}`, { cause: error })
    }
  }

  function write (name: string, content: string | object) {
    const file = path.join(folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
    return file
  }

  return {
    run,
    write,
    /** @returns the tarball, which npm installs as `file:<name>.tgz` */
    async pack (name: string) {
      const tarball = path.join(folder, `${name}.tgz`)
      await run('pnpm', ['pack', '--out', tarball], path.join(root, 'packages', name))
      return tarball
    },
    async install (dependencies: Record<string, string>) {
      write('package.json', { name: 'an-app', private: true, type: 'module', dependencies })
      await run('npm', ['install', '--no-audit', '--no-fund'])
    },
    /** Compiles a program as the strictest projects do, with the types of its libraries. */
    async compile (name: string, source: string, options: object) {
      write(name, source)
      const config = write(`${path.dirname(name)}/tsconfig.json`, {
        compilerOptions: {
          target: 'es2022',
          lib: ['es2022', 'dom', 'dom.iterable'],
          types: [],
          strict: true,
          exactOptionalPropertyTypes: true,
          noUncheckedIndexedAccess: true,
          verbatimModuleSyntax: true,
          noEmit: true,
          skipLibCheck: false,
          ...options
        },
        include: [path.basename(name)]
      })
      await run(path.join(root, 'node_modules/.bin/tsc'), ['-p', config, '--checkers', '1'])
    }
  }
}

export const moduleResolutions = [['node16', 'node16'], ['esnext', 'bundler']] as const

/** What publint and Are the types wrong? find in a package. */
export async function listPackageProblems (tarball: string) {
  const data = new Uint8Array(readFileSync(tarball))
  const { messages } = await publint({ pack: { tarball: data.buffer }, strict: true })
  const { problems } = await checkPackage(createPackageFromTarballData(data)) as Analysis
  // The packages have modules only, which every tool for apps reads. `require` and the resolution of 2015 do not.
  const isExpected = (each: Problem) =>
    'resolutionKind' in each && ['node10', 'node16-cjs'].includes(each.resolutionKind)
  return [...messages, ...problems.filter((each) => !isExpected(each))]
}
