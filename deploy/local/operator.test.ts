import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
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
    }],
    ['places import --delete-missing gyms.geojsonl', {
      process: 'fitmatch',
      cli: 'services/fitmatch/places/cli.ts',
      args: ['import', '--delete-missing', 'gyms.geojsonl'],
      file: 'gyms.geojsonl'
    }],
    ['places remove 1', {
      process: 'fitmatch',
      cli: 'services/fitmatch/places/cli.ts',
      args: ['remove', '1'],
      file: undefined
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

/** A program in the place of docker or kubectl that logs how it was called. A command with a file it also runs. */
function givenProgram (t: Test, name: string) {
  const folder = t.testdir({ bin: {} })
  const log = path.join(folder, 'log')
  const write = (program: string, script: string) => {
    writeFileSync(path.join(folder, 'bin', program), `#!/bin/sh\n${script}`)
    chmodSync(path.join(folder, 'bin', program), 0o755)
  }
  write(name, `echo "$*" >> ${log}\nwhile [ $# -gt 0 ] && [ "$1" != sh ]; do shift; done\n"$@"\n`)
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [path.join(import.meta.dirname, 'operator.ts'), ...args], {
      env: { ...process.env, PATH: `${path.join(folder, 'bin')}:${process.env['PATH']}` }
    })
  return { folder, run, write, log, calls: () => readFileSync(log, 'utf8').trim().split('\n') }
}

t.test('in Kubernetes it runs in a pod of the service', (t) => {
  const { run, calls } = givenProgram(t, 'kubectl')
  run('--in', 'kubernetes', 'sessions', 'end', 'ana@example.org')
  t.strictSame(calls(), [
    '--namespace tandem exec --stdin deploy/identity -- node services/identity/operator/cli.ts sessions end ana@example.org'
  ])
  t.end()
})

t.test('in compose it runs in another container of the service, which may not start, and takes a file there', (t) => {
  const { folder, run, write, log, calls } = givenProgram(t, 'docker')
  // In the place of the container's.
  write('node', `cat "$4" >> ${log}\ndate -u -r "$4" +%FT%T >> ${log}\necho "$4" >> ${log}\nexit 3\n`)
  const file = path.join(folder, 'gyms.geojsonl')
  writeFileSync(file, 'a gym\n')
  utimesSync(file, 0, new Date('2026-11-20T07:00:00Z'))
  t.throws(() => run('--in', 'compose', 'places', 'import', file, '--delete-missing'), /Command failed/)
  const [, command, content, changedAt, copy = ''] = calls()
  t.match(
    command,
    /^compose run --rm --no-deps -T fitmatch sh -c .* node services\/fitmatch\/places\/cli\.ts import --delete-missing$/
  )
  t.strictSame([content, changedAt], ['a gym', '2026-11-20T07:00:00'])
  t.notOk(existsSync(copy), 'the copy is removed')
  t.throws(() => run('--in', 'compose', 'places', 'import', '/nowhere'), /There is no file \/nowhere/)
  t.end()
})

t.test('the password of NATS is on no command line', (t) => {
  const { run, write, log, calls } = givenProgram(t, 'kubectl')
  write('node', `echo "$NATS_URL" >> ${log}\n`)
  const before = process.env['NATS_URL']
  process.env['NATS_URL'] = 'nats://operator:secret@nats:4222'
  t.teardown(() => {
    if (before === undefined) delete process.env['NATS_URL']
    else process.env['NATS_URL'] = before
  })
  run('--in', 'kubernetes', 'recover', 'consumers', 'social')
  const [command, url] = calls()
  t.match(
    command,
    /exec --stdin deploy\/streams -- sh -c .* node packages\/bus-kit\/recovery-cli\.ts consumers social$/
  )
  t.notMatch(command, /secret/)
  t.equal(url, 'nats://operator:secret@nats:4222')
  t.end()
})

t.test('an unknown service or place is named', (t) => {
  const { run } = givenProgram(t, 'docker')
  t.throws(() => run('failed-messages', 'sozial', 'list'), /There is no service sozial/)
  t.throws(() => run('--in', 'heaven', 'keys', 'rotate'), /There is no place heaven/)
  t.end()
})

t.test('a command has the settings of the running system, but for those that are set', (t) => {
  const folder = t.testdir({
    'stack.json': JSON.stringify({
      postgres: { url: 'postgres://127.0.0.1/postgres' },
      settings: { CONSOLE_URL: 'http://localhost:8091', WEBHOOK_PRIVATE_HOSTS: '127.0.0.1' }
    })
  })
  const script = `import { useRunningSystem } from '${path.join(import.meta.dirname, 'running-system.ts')}'
await useRunningSystem('notification')
console.log(JSON.stringify(process.env))`
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
    env: { DATA_DIR: folder, CONSOLE_URL: 'https://console.example.com' },
    encoding: 'utf8'
  })
  t.match(JSON.parse(output), {
    DATABASE_URL: 'postgres://127.0.0.1/postgres?options=-c+search_path%3Dnotification',
    CONSOLE_URL: 'https://console.example.com',
    WEBHOOK_PRIVATE_HOSTS: '127.0.0.1'
  })
  t.end()
})
