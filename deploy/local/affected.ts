import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { findBase, listFiles } from '@tandem/local-servers/git.ts'
import { UserError } from '@tandem/local-servers/screen.ts'

interface Workspace {
  folder: string
  name: string
  /** With those that only tests use. */
  dependencies: string[]
  runtimeDependencies: string[]
}

/** Patterns of files that tests read by their path, so that no dependency of a package shows it. */
const CODE = '{gateway,services,packages}/**'
const SETTINGS = '{gateway/**,services/*}/config.ts'
const CONTRACTS = ['packages/contracts/**', 'gateway/openapi.json', CODE]
export const readersByPath: Record<string, string[]> = {
  'deploy/bundle/bundle.test.ts': ['services/identity/passwords/**'],
  'deploy/clients/api-report.test.ts': ['packages/sdk-typescript/**'],
  'deploy/clients/build-an-app.system.test.ts': ['docs/*.md', 'packages/sdk-typescript/**'],
  'deploy/clients/models.test.ts': ['gateway/openapi.json'],
  'deploy/clients/package.test.ts': ['gateway/openapi.json', 'packages/sdk-typescript/**'],
  'deploy/contracts/contracts.test.ts': CONTRACTS,
  'deploy/contracts/document.test.ts': CONTRACTS,
  'deploy/contracts/readers.test.ts': CONTRACTS,
  'deploy/contracts/tested-routes.test.ts': [CODE],
  'deploy/docker/compose.test.ts': [SETTINGS, 'docker-compose.yml', '.env.example', 'gateway/routes.ts', 'deploy/**'],
  'deploy/docker/image-files.test.ts': [CODE, '.dockerignore', 'deploy/docker/Dockerfile', 'deploy/bundle/**'],
  'deploy/docker/restore.test.ts': ['services/*/migrations/**', 'packages/*/migrations/**'],
  'deploy/kubernetes/connections.test.ts': ['gateway/routes.ts', 'deploy/**'],
  'deploy/kubernetes/manifests.test.ts': [SETTINGS, 'gateway/routes.ts', 'docs/operations.md', 'deploy/**'],
  'deploy/kubernetes/migrations.test.ts': ['services/*/migrations/**', 'packages/*/migrations/**'],
  'deploy/local/cycles.test.ts': ['**'],
  'deploy/local/faulty-brand.test.ts': [CODE],
  'deploy/local/lint.test.ts': ['.oxlintrc.json', '**/package.json'],
  'deploy/local/words.test.ts': ['**'],
  'deploy/nats/rights.test.ts': [CODE],
  'deploy/new-service/regions.test.ts': ['**/README.md', 'gateway/routes.ts', 'docker-compose.yml', 'deploy/**'],
  'deploy/new-service/new-service.test.ts': ['services/*/main.ts', 'docker-compose.yml', 'tsconfig.json'],
  'deploy/observability/observability.test.ts': [CODE, 'deploy/docker/monitoring/**', 'docker-compose.yml'],
  'deploy/release/release.test.ts': [
    'package.json',
    'CHANGELOG.md',
    'deploy/kubernetes/overlays/**',
    'deploy/kubernetes/roll-out.sh'
  ],
  'packages/brand-kit/own-name.test.ts': [CODE]
}

interface Affected {
  /** Of packages that differ from origin/main, committed or not, and of their dependents. */
  folders: string[]
  /** Tests that read a file by its path which differs. */
  files: string[]
}

export function listAffected (root: string): Affected {
  const base = findBase(root)
  if (!base) throw new UserError('--affected compares with origin/main, which this repository does not have')
  const changed = [
    ...listFiles(root, 'diff', '--name-only', base),
    ...listFiles(root, 'ls-files', '--others', '--exclude-standard')
  ]
  return { folders: listFolders(readWorkspaces(root), changed), files: listReaders(changed) }
}

function listFolders (workspaces: Workspace[], changed: string[]): string[] {
  const affected = new Set(
    workspaces.filter(({ folder }) => changed.some((file) => belongsTo(folder, file))).map(({ name }) => name)
  )
  for (let size = -1; size !== affected.size;) {
    size = affected.size
    for (const { name, dependencies } of workspaces) {
      if (dependencies.some((each) => affected.has(each))) affected.add(name)
    }
  }
  return workspaces.filter(({ name }) => affected.has(name)).map(({ folder }) => folder)
}

/** The folders with the files of a package: brand-kit serves those of brand. */
export const foldersOf = (folder: string) => folder === 'packages/brand-kit' ? [folder, 'brand'] : [folder]

export const belongsTo = (folder: string, file: string) => foldersOf(folder).some((each) => file.startsWith(`${each}/`))

export function listReaders (changed: string[]): string[] {
  return Object.entries(readersByPath)
    .filter(([, patterns]) => changed.some((file) => patterns.some((each) => path.matchesGlob(file, each))))
    .map(([file]) => file)
}

export function readWorkspaces (root: string): Workspace[] {
  const pattern = '{services,packages,deploy,examples}/*/package.json'
  return globSync(['gateway/package.json', pattern], { cwd: root }).map((file) => {
    const { name, dependencies = {}, devDependencies = {} } = JSON.parse(
      readFileSync(path.join(root, file), 'utf8')
    ) as { name: string, dependencies?: object, devDependencies?: object }
    return {
      folder: path.dirname(file),
      name,
      dependencies: Object.keys({ ...dependencies, ...devDependencies }),
      runtimeDependencies: Object.keys(dependencies)
    }
  })
}
