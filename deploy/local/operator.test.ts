import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { containerCommand, findCommand } from './operator-commands.ts'

const root = path.resolve(import.meta.dirname, '../..')

t.test('every command is in the image of its process', (t) => {
  const cases: [string, ReturnType<typeof findCommand>][] = [
    ['grant role ana@example.org ADMIN', {
      process: 'identity',
      cli: 'services/identity/operator/cli.ts',
      args: ['grant', 'role', 'ana@example.org', 'ADMIN']
    }],
    ['failed-messages social replay --all', {
      process: 'social',
      cli: 'packages/bus-kit/failed-messages-cli.ts',
      args: ['replay', '--all']
    }],
    ['audit fitmatch verify', { process: 'fitmatch', cli: 'packages/operator-kit/audit-cli.ts', args: ['verify'] }],
    ['recover consumers social', {
      process: 'streams',
      cli: 'packages/bus-kit/recovery-cli.ts',
      args: ['consumers', 'social']
    }]
  ]
  for (const [line, wanted] of cases) {
    const found = findCommand(line.split(' '))
    t.match(found, wanted, line)
    t.ok(existsSync(path.join(root, found.cli)), found.cli)
  }
  t.equal(containerCommand('elsewhere', 'social', []), undefined)
  t.end()
})

/** Programs that print how they were called, and what they read. */
function givenProgram (t: Test, name: string) {
  const folder = t.testdir()
  const log = path.join(folder, 'log')
  writeFileSync(
    path.join(folder, name),
    `#!/bin/sh\necho "$*" >> ${log}\ncase "$*" in *"cat >"*) cat >> ${log};; esac\n`
  )
  chmodSync(path.join(folder, name), 0o755)
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [path.join(import.meta.dirname, 'operator.ts'), ...args], {
      env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` }
    })
  return { folder, run, calls: () => readFileSync(log, 'utf8').trim().split('\n') }
}

t.test('in Kubernetes it runs in a pod of the service', (t) => {
  const { run, calls } = givenProgram(t, 'kubectl')
  run('--in', 'kubernetes', 'sessions', 'end', 'ana@example.org')
  t.strictSame(calls(), [
    '--namespace tandem exec --stdin deploy/identity -- node services/identity/operator/cli.ts sessions end ana@example.org'
  ])
  t.end()
})

t.test('in compose it runs in the container of the service, and takes a file there', (t) => {
  const { folder, run, calls } = givenProgram(t, 'docker')
  const file = path.join(folder, 'gyms.geojsonl')
  writeFileSync(file, 'a gym\n')
  run('--in', 'compose', 'places', 'import', file)
  t.strictSame(calls(), [
    'compose version',
    'compose exec -T fitmatch sh -c cat > /tmp/import',
    'a gym',
    'compose exec -T fitmatch node services/fitmatch/places/cli.ts import /tmp/import',
    'compose exec -T fitmatch rm -f /tmp/import'
  ])
  t.end()
})

t.test('an unknown service or place is named', (t) => {
  const { run } = givenProgram(t, 'docker')
  t.throws(() => run('failed-messages', 'sozial', 'list'), /There is no service sozial/)
  t.throws(() => run('--in', 'heaven', 'keys', 'rotate'), /There is no place heaven/)
  t.end()
})
