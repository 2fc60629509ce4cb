// Creates a service with one example feature: `npm run new-service <name>`.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { servicePrefixes } from '../../gateway/routes.ts'
import { screen } from '@tandem/local-servers/screen.ts'

const root = path.resolve(import.meta.dirname, '../..')
const template = path.join(import.meta.dirname, 'template')
const [name = '', ...others] = process.argv.slice(2)

const problem = findProblem()
if (problem) {
  screen.error(problem)
  process.exit(1)
}

copyTemplate('service', `services/${name}`)
copyTemplate('contracts', 'packages/contracts')
copyTemplate('kubernetes', `deploy/kubernetes/base/${name}`)
insert('packages/contracts/index.ts', /^export \* from '\.\/others\.ts'$/m, `export * from './${name}.ts'\n`)
insert('docker-compose.yml', /^  gateway:$/m, render(path.join(template, 'compose.yml.template')))
// The version in production is an operator's decision, so this line is written once and not generated.
insert(
  'deploy/kubernetes/overlays/production/kustomization.yaml',
  /^patches:$/m,
  `  - { name: tandem/${name}, newName: registry.example.org/tandem/${name}, newTag: 1.0.0 }\n`
)
insert(
  'gateway/pages/tags.ts',
  /^  \{ name: 'Server'/m,
  `  { name: '${name}', description: 'Write notes, and list them.', paths: ['/${name}'] },\n`
)
for (
  const [locale, text] of Object.entries({
    en: 'You have reached the maximum number of notes.',
    id: 'Anda telah mencapai jumlah catatan maksimum.',
    es: 'Llegaste al número máximo de notas.'
  })
) {
  insert(
    `brand/texts/${locale}.json`,
    /^ {2}"errors\.LIMIT_EXCEEDED\.tooManyPrograms"/m,
    `  "errors.LIMIT_EXCEEDED.tooManyNotes": "${text}",\n`
  )
}
insert('gateway/console/services.ts', /^\] as const$/m, `  '${name}'\n`, (before) => before.replace(/\n$/, ',\n'))
// Last of the files: all that is generated follows this table.
insert('gateway/routes.ts', /^\} as const$/m, `  ${name}: ['/${name}']\n`, (before) => before.replace(/\n$/, ',\n'))

// Before the installation, because it adds the service to a package.json.
run(process.execPath, [path.join(import.meta.dirname, 'write.ts')])
run('pnpm', ['install', '--no-frozen-lockfile', '--prefer-offline', '--silent'])
run(process.execPath, [path.join(root, 'deploy/contracts/write.ts')])
screen.done(`services/${name}: npm test -- services/${name}, then replace its notes by what it is for`)

function findProblem () {
  if (!name || others.length > 0) return 'usage: npm run new-service <name>'
  if (!/^[a-z][a-z0-9]{1,30}$/.test(name)) {
    return `"${name}" names a Postgres schema, a NATS user and variables: use 2 to 31 lower-case letters and digits`
  }
  const taken = ['services', 'packages', 'deploy'].find((folder) => existsSync(path.join(root, folder, name)))
  if (taken) return `${taken}/${name} exists already. Choose another name.`
  if (
    existsSync(path.join(root, `packages/contracts/${name}.ts`)) || ['gateway', 'streams', 'contracts'].includes(name)
  ) {
    return `"${name}" is used already. Choose another name.`
  }
  const owner = Object.entries(servicePrefixes).find(([, prefixes]) =>
    (prefixes as readonly string[]).includes(`/${name}`)
  )
  if (owner) return `${owner[0]} serves /${name} already. Choose another name.`
}

function render (file: string): string {
  return readFileSync(file, 'utf8').replaceAll('__name__', name).replaceAll('__NAME__', name.toUpperCase())
}

function copyTemplate (from: string, to: string) {
  for (const file of globSync('**/*.template', { cwd: path.join(template, from) })) {
    const target = path.join(root, to, file.replaceAll('__name__', name).slice(0, -'.template'.length))
    mkdirSync(path.dirname(target), { recursive: true })
    writeFileSync(target, render(path.join(template, from, file)))
  }
}

/** Inserts `text` before the line that matches `anchor`. */
function insert (file: string, anchor: RegExp, text: string, prepare = (before: string) => before) {
  const content = readFileSync(path.join(root, file), 'utf8')
  const at = content.search(anchor)
  if (at < 0) throw new Error(`${file} has no line ${anchor}`)
  writeFileSync(path.join(root, file), prepare(content.slice(0, at)) + text + content.slice(at))
}

function run (program: string, args: string[]) {
  const { status } = spawnSync(program, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed`)
}
