import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'

/** A copy of the script, and a kubectl that runs nothing: `wait`, `get` and `jobs` are what it does for migrations. */
function givenCluster (
  t: Test,
  { wait = 'true', get = 'true', jobs = 'echo job.batch/social-migration' }: {
    wait?: string,
    get?: string,
    jobs?: string
  } = {}
) {
  const folder = t.testdir({
    calls: '',
    bin: {
      kubectl: `#!/usr/bin/env bash
echo "$*" >> "$CALLS"
case "$*" in
  *" wait job "*) ${wait};;
  *" get job "*"--output name") ${jobs};;
  *" get job "*) ${get};;
  *" get pod "*) echo "social-migration-x7k2p   0/1   ImagePullBackOff";;
esac
`,
      sleep: '#!/bin/sh\n'
    },
    deploy: { kubernetes: { overlays: { production: {} } } }
  })
  const script = path.join(folder, 'deploy/kubernetes/roll-out.sh')
  cpSync(path.join(import.meta.dirname, 'roll-out.sh'), script)
  for (const program of ['kubectl', 'sleep']) chmodSync(path.join(folder, 'bin', program), 0o755)
  const calls = () => readFileSync(path.join(folder, 'calls'), 'utf8').split('\n').filter(Boolean)
  return {
    run: (...args: string[]) =>
      spawnSync(script, args, {
        encoding: 'utf8',
        timeout: 60_000,
        env: { PATH: `${path.join(folder, 'bin')}:/usr/bin:/bin`, CALLS: path.join(folder, 'calls') }
      }),
    calls,
    replaced: () => calls().some((call) => /^apply .*component!=migration/.test(call))
  }
}

t.test('a roll-out waits for a migration for as long as its Job takes, and then replaces the processes', (t) => {
  // The Job completes while the script waits for the fifth time.
  const { run, calls, replaced } = givenCluster(t, { wait: '[ "$(grep -c " wait job " "$CALLS")" -ge 5 ]' })
  t.match(run('production', 'social'), { status: 0 })
  t.equal(calls().filter((call) => call.includes(' wait job ')).length, 5)
  t.ok(replaced())
  t.end()
})

t.test('a migration that failed ends the roll-out at once, with its reason, and the processes stay', (t) => {
  const { run, calls, replaced } = givenCluster(t, { wait: 'exit 1', get: 'echo BackoffLimitExceeded' })
  t.match(run('production', 'social'), { status: 1, stderr: /BackoffLimitExceeded.*left as they are/ })
  t.equal(calls().filter((call) => call.includes(' wait job ')).length, 1)
  t.notOk(replaced())
  t.end()
})

t.test('while it waits, a roll-out shows the pods of the migrations', (t) => {
  const { run } = givenCluster(t, { wait: '[ "$(grep -c " wait job " "$CALLS")" -ge 2 ]' })
  t.match(run('production', 'social'), { status: 0, stdout: /social-migration-x7k2p .*ImagePullBackOff/ })
  t.end()
})

t.test('Jobs that somebody deletes end the roll-out, and the processes stay', (t) => {
  const { run, replaced } = givenCluster(t, { wait: 'exit 1', jobs: 'true' })
  t.match(run('production', 'social'), { status: 1, stderr: /there is no Job.*left as they are/ })
  t.notOk(replaced())
  t.end()
})

t.test('a cluster that does not respond ends the roll-out, and the processes stay', (t) => {
  const { run, replaced } = givenCluster(t, { wait: 'exit 1', get: 'echo "connection refused" >&2; exit 1' })
  t.match(run('production', 'social'), { status: 1, stderr: /connection refused/ })
  t.notOk(replaced())
  t.end()
})

t.test('the console follows the gateway, and streams follows identity', (t) => {
  for (const [service, follows] of [['gateway', 'gateway,console'], ['identity', 'identity,streams']] as const) {
    const { run, calls } = givenCluster(t)
    t.match(run('production', service), { status: 0 })
    t.ok(calls().some((call) => call.startsWith('apply') && call.includes(`(${follows}),app`)), service)
  }
  t.end()
})
