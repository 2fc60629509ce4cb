import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { serviceNames } from '../../gateway/routes.ts'
import { generateRegions, listMessaging } from './regions.ts'

const root = path.resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

t.test('the services are the ones in the table of the gateway', (t) => {
  const folders = globSync('services/*/main.ts', { cwd: root }).map((file) => path.basename(path.dirname(file)))
  t.same([...serviceNames].sort(), folders.sort(), 'gateway/routes.ts has the prefixes of each folder below services/')
  t.end()
})

t.test('every file that names all services is up to date', (t) => {
  for (const [file, content] of generateRegions(root)) {
    t.equal(read(file) === content, true, `${file} is what "npm run contracts" writes`)
  }
  t.end()
})

const headings = [
  'Owns',
  'Serves',
  'Publishes',
  'Consumes',
  'Provides',
  'Calls',
  'Guarantees',
  'Surprises',
  'Configuration'
]
const mayBeMissing = ['Publishes', 'Consumes', 'Provides', 'Calls']

t.test('every service has a manifest, a version in production and the headings of a README', (t) => {
  const production = read('deploy/kubernetes/overlays/production/kustomization.yaml')
  for (const name of serviceNames) {
    t.ok(existsSync(path.join(root, `deploy/kubernetes/base/${name}/kustomization.yaml`)), name)
    t.match(production, `name: tandem/${name},`, `overlays/production has an image of ${name}`)
    const found = [...read(`services/${name}/README.md`).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading ?? '')
    t.same(found, headings.filter((heading) => found.includes(heading)), `the order of services/${name}/README.md`)
    t.same(headings.filter((heading) => !found.includes(heading) && !mayBeMissing.includes(heading)), [], name)
  }
  t.end()
})

t.test('the README of a package has the headings of a service that apply to it', (t) => {
  for (const file of globSync('packages/*/README.md', { cwd: root })) {
    const found = [...read(file).matchAll(/^## (.+)$/gm)].map(([, heading]) => heading ?? '')
    t.ok(found.includes('Provides'), file)
    t.same(found, headings.filter((heading) => found.includes(heading)), `the headings of ${file} and their order`)
  }
  t.end()
})

const MAX_README_LINES = 100

t.test('every README has at most 100 lines: rules stand beside their code, work of operators in docs/', (t) => {
  const { stdout } = spawnSync('git', ['ls-files', '*README.md'], { cwd: root, encoding: 'utf8' })
  const files = stdout.split('\n').filter((file) => file && existsSync(path.join(root, file)))
  t.ok(files.includes('README.md') && files.length > serviceNames.length, 'the READMEs are found')
  const long = files.map((file) => ({ file, lines: read(file).trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > MAX_README_LINES)
  t.same(long, [])
  t.end()
})

t.test('the README of a service lists what it publishes, consumes, provides and calls', (t) => {
  for (const [service, lists] of listMessaging(root)) {
    const readme = read(`services/${service}/README.md`)
    for (const [kind, lines] of lists) {
      const heading = `## ${kind[0]?.toUpperCase()}${kind.slice(1)}\n\n<!-- generated: ${kind} -->\n`
      const isMissing = lines.length > 0 && !readme.includes(heading)
      t.notOk(isMissing, `services/${service}/README.md needs ${JSON.stringify(heading)}: ${lines.join(' ')}`)
    }
  }
  t.end()
})
