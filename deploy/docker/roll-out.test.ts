import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'

const ENVIRONMENT = 'TANDEM_REGISTRY=old/\nTANDEM_SOCIAL_VERSION=1.0.0\nTANDEM_GATEWAY_VERSION=1.0.0\n'

/** A copy of what a roll-out reads, and a docker that runs nothing: `fails` is the command that fails. */
function givenRelease (t: Test, { fails = 'none', hasConsole = false }: { fails?: string, hasConsole?: boolean } = {}) {
  const record = (name: string) =>
    JSON.stringify({ name, version: '2.0.0', image: `new/tandem/${name}`, digest: 'sha256:1' }, null, 2)
  const folder = t.testdir({
    '.env': ENVIRONMENT,
    'calls': '',
    'bin': {
      docker: `#!/usr/bin/env bash
echo "$*" >> "$CALLS"
case "$*" in
  *"${fails}"*) exit 1;;
  *"--quiet console") ${hasConsole ? 'echo 1' : 'true'};;
esac
`
    },
    'services': { dashboard: { 'main.ts': '' }, identity: { 'main.ts': '' }, social: { 'main.ts': '' } },
    'deploy': {
      docker: { 'make-env.sh': '#!/bin/sh\necho "make-env" >> "$CALLS"\n' },
      kubernetes: {
        components: { 'nats-rights': { 'rights.conf': '' }, 'redis-users': { 'start.sh': '', 'users.acl': '' } }
      },
      release: {
        records: Object.fromEntries(
          ['dashboard', 'gateway', 'identity', 'social'].map((name) => [`${name}.json`, record(name)])
        )
      }
    }
  })
  const script = path.join(folder, 'deploy/docker/roll-out.sh')
  cpSync(path.join(import.meta.dirname, 'roll-out.sh'), script)
  for (const program of ['bin/docker', 'deploy/docker/make-env.sh']) chmodSync(path.join(folder, program), 0o755)
  const read = (name: string) => readFileSync(path.join(folder, name), 'utf8')
  return {
    write: (name: string, text: string) => writeFileSync(path.join(folder, name), text),
    run: (...args: string[]) =>
      spawnSync(script, args, {
        encoding: 'utf8',
        env: { PATH: `${path.join(folder, 'bin')}:/usr/bin:/bin`, CALLS: path.join(folder, 'calls') }
      }),
    environment: () => read('.env'),
    calls: () => read('calls').split('\n'),
    started: () => read('calls').split('\n').filter((line) => / up /.test(line)).map((line) => line.split(' ').at(-1))
  }
}

t.test('a roll-out starts the recorded versions: identity first, which the others wait for, the gateway last, then its console', (t) => {
  const { run, environment, started } = givenRelease(t, { hasConsole: true })
  t.match(run(), { status: 0 })
  t.match(
    environment(),
    /^TANDEM_REGISTRY=new\/\nTANDEM_SOCIAL_VERSION=2\.0\.0@sha256:1\nTANDEM_GATEWAY_VERSION=2\.0\.0@/
  )
  t.strictSame(started(), ['streams', 'identity', 'dashboard', 'social', 'gateway', 'console'])
  t.end()
})

t.test('the secrets that a release adds are written before anything is started', (t) => {
  const { run, calls } = givenRelease(t)
  t.match(run('social'), { status: 0 })
  const at = calls().indexOf('make-env')
  t.ok(at >= 0 && at < calls().findIndex((call) => / (up|pull|run) /.test(call)))
  t.end()
})

t.test('a console that is not there is not started, and a service alone leaves it', (t) => {
  const without = givenRelease(t)
  t.match(without.run(), { status: 0 })
  t.strictSame(without.started(), ['streams', 'identity', 'dashboard', 'social', 'gateway'])
  const alone = givenRelease(t, { hasConsole: true })
  t.match(alone.run('social'), { status: 0 })
  t.strictSame(alone.started(), ['streams', 'social'])
  t.end()
})

t.test('a command that fails before the processes are replaced leaves their versions in .env', (t) => {
  for (
    const fails of [' pull ', ' up -d --no-build postgres', ' restart nats', ' restart redis', ' social-migration']
  ) {
    const { write, run, environment } = givenRelease(t, { fails })
    // Both have none, and are restarted for them.
    write('deploy/kubernetes/components/nats-rights/rights.conf', 'rights')
    write('deploy/kubernetes/components/redis-users/users.acl', 'users')
    t.match(run(), { status: 1, stderr: /The processes were left as they are/ }, fails)
    t.equal(environment(), ENVIRONMENT, fails)
  }
  t.end()
})
