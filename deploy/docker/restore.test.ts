import { execFile } from 'node:child_process'
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { serviceNames } from '../../gateway/routes.ts'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')

// In place of `docker`: it writes each call to a file, knows no dump but good.dump, and the command in FAILS fails.
const docker = `#!/bin/sh
echo "$*" >> "$CALLS"
case "$*" in *pg_restore*) case "$*" in *good.dump*) ;; *) exit 1 ;; esac ;; esac
case "$*" in *"$FAILS"*) exit 1 ;; esac
`

/** Runs restore.sh in a checkout with the `.env` of an operator. */
async function restore (t: Test, args: string[], { fails = 'nothing' } = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-restore-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await mkdir(path.join(folder, 'bin'))
  await writeFile(path.join(folder, 'bin/docker'), docker, { mode: 0o755 })
  await cp(path.join(root, 'deploy/docker/restore.sh'), path.join(folder, 'deploy/docker/restore.sh'))
  await copyFile(path.join(root, '.env.example'), path.join(folder, '.env'))
  for (const name of serviceNames) {
    await mkdir(path.join(folder, 'services', name), { recursive: true })
    await writeFile(path.join(folder, 'services', name, 'main.ts'), '')
  }
  const secret = path.join(folder, '.secrets/nats/NATS_OPERATOR_PASSWORD')
  await mkdir(path.dirname(secret), { recursive: true })
  await writeFile(secret, 'secret')
  const calls = path.join(folder, 'calls')
  const env = { ...process.env, PATH: `${folder}/bin:${process.env['PATH']}`, CALLS: calls, FAILS: fails }
  const { stdout, failed } = await run(path.join(folder, 'deploy/docker/restore.sh'), args, { env }).then(
    ({ stdout }) => ({ stdout, failed: false }),
    ({ stdout }: { stdout: string }) => ({ stdout, failed: true })
  )
  const lines = (await readFile(calls, 'utf8')).split('\n').slice(1, -1)
  return { failed, output: stdout, calls: lines.map((line) => line.replace('compose ', '')) }
}

t.test('one service is stopped, restored, and started with its consumers at the start of the streams', async (t) => {
  const { failed, calls } = await restore(t, ['good.dump', 'social'])
  t.notOk(failed)
  t.match(calls, [
    /pg_restore --list/,
    /^stop social$/,
    /restore-schemas\.sh \/backups\/good\.dump social$/,
    /recovery-cli\.ts consumers social$/,
    // Without a profile: nobody has asked for the backups of each night.
    /^up -d --no-build$/
  ])
  t.equal(calls.length, 5)
})

t.test('everything is restored with new streams and an empty Redis, while the gateway is stopped', async (t) => {
  const { failed, calls } = await restore(t, ['good.dump'])
  t.notOk(failed)
  const all = serviceNames.toSorted().join(' ')
  t.match(calls, [
    /pg_restore --list/,
    `stop ${all} gateway`,
    `restore-schemas.sh /backups/good.dump ${all}`,
    /recovery-cli\.ts streams$/,
    /redis-cli --user operator flushall/,
    /^up -d --no-build$/
  ])
  t.equal(calls.length, 6)
})

t.test('nothing is stopped for a dump that does not exist', async (t) => {
  const { failed, calls } = await restore(t, ['missing.dump', 'social'])
  t.ok(failed)
  t.match(calls, [/pg_restore --list/])
  t.equal(calls.length, 1)
})

t.test('what was stopped is started again if nothing could be restored', async (t) => {
  const { failed, calls } = await restore(t, ['good.dump'], { fails: 'restore-schemas.sh' })
  t.ok(failed)
  t.match(calls, [/pg_restore --list/, /^stop /, /restore-schemas\.sh/, /^up -d --no-build$/])
  t.equal(calls.length, 4)
})

t.test('a slow start is reported, and that the erasures are to be replayed', async (t) => {
  const { failed, output } = await restore(t, ['good.dump'], { fails: 'up -d' })
  t.ok(failed)
  t.match(output, 'erasures replay')
})

t.test('the processes stay stopped if the servers cannot be prepared: they would miss events', async (t) => {
  for (const [args, fails] of [[['good.dump', 'social'], 'consumers'], [['good.dump'], 'flushall']] as const) {
    const { failed, calls } = await restore(t, [...args], { fails })
    t.ok(failed)
    t.match(calls.at(-1), fails)
  }
})
