import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'

const root = path.resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const tracked = new Set(execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n'))

// The scripts that containers start, that a process of one starts, or that operators run in one: see docker-compose.yml, deploy/kubernetes and
// docs/operations.md. The assets of the console are served as they are.
const isEntry = (file: string) =>
  /^(gateway(\/console)?|services\/[^/]+)\/main\.ts$|(\/|-)cli\.ts$|\/(remux|read)-process\.ts$|^gateway\/console\/assets\//
    .test(file)
const isCode = (file: string) => /\.([cm]?[jt]s|sh)$/.test(file)

/** The tracked files that Docker copies: below the sources of a COPY, and not excluded by .dockerignore. */
function listImageFiles () {
  const sources = [...read('deploy/docker/Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)]
    .flatMap(([, names = '']) => names.split(' '))
  const rules = read('.dockerignore').split('\n').filter(Boolean).map((line) => ({
    excludes: !line.startsWith('!'),
    pattern: line.replace('!', '')
  }))
  const isExcluded = (file: string) => {
    const parents = file.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))
    return rules.findLast(({ pattern }) => parents.some((each) => path.matchesGlob(each, pattern)))?.excludes ?? false
  }
  return [...tracked].filter((file) =>
    sources.some((source) => file === source || file.startsWith(`${source}/`)) && !isExcluded(file)
  )
}

/** Adds `file`, and what it imports directly and indirectly, to `found`. */
function addImports (file: string, found: Set<string>) {
  if (found.has(file)) return
  found.add(file)
  for (const [, name = ''] of read(file).matchAll(/(?:\bfrom |\bimport |\bimport\()'([^']+)'/g)) {
    const imported = resolve(file, name)
    if (imported) addImports(imported, found)
  }
}

function resolve (file: string, name: string) {
  if (name.startsWith('.')) return path.join(path.dirname(file), name)
  const [, kit, inside] = /^@tandem\/([\w-]+)(?:\/(.+))?$/.exec(name) ?? []
  if (!kit || !tracked.has(`packages/${kit}/package.json`)) return undefined
  const { exports } = JSON.parse(read(`packages/${kit}/package.json`)) as { exports: Record<string, string> }
  return path.join('packages', kit, exports[inside ? `./${inside}` : '.'] ?? inside ?? '')
}

t.test('an image has the code that its processes import, and no tests, fakes, benches or build tools', async (t) => {
  const files = listImageFiles()
  const shipped = files.filter(isCode)
  const imported = new Set<string>()
  for (const entry of shipped.filter(isEntry)) addImports(entry, imported)
  t.ok(imported.size > 100)

  t.strictSame(shipped.filter((file) => !imported.has(file)), [], 'nothing else ships: exclude it in .dockerignore')
  t.strictSame([...imported].filter((file) => !files.includes(file)), [], 'nothing that is imported is excluded')
})
