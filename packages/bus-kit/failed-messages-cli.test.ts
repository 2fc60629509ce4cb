import { execFile } from 'node:child_process'
import path from 'node:path'
import { testDatabase } from '@tandem/database-kit/testing'
import t from 'tap'
import { insertFailed } from './failed-messages.ts'
import type { Tables } from './harness.ts'

const program = path.join(import.meta.dirname, 'failed-messages-cli.ts')

async function run (url: string | undefined, ...args: string[]) {
  return await new Promise<{ code: number, stdout: string, stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [program, ...args], { env: { ...process.env, DATABASE_URL: url ?? '' } }, (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr })
    })
  })
}

t.test('an operator lists what is parked and has it tried again', async (t) => {
  const { db, url } = await testDatabase<Tables>(t, import.meta.dirname)
  t.match(await run(url, 'list'), { code: 0, stdout: 'Nothing is parked.\n' })

  for (const key of ['a', 'b', 'c', 'd']) {
    const letter = { key, stream: 'EVENTS_ALPHA', type: 'alpha.thing.happened.v1', message: '{}', traceparent: null }
    await insertFailed(db, letter, { error: new Error(`${key} is bad`), attempts: 1, permanent: key !== 'd' })
  }
  const listed = await run(url, 'list')
  t.match(listed, { code: 0, stdout: /a {2}alpha\.thing\.happened\.v1 {2}parked .*\n {4}Error: a is bad\nb[^]*3 parked\.\n$/ })
  t.notMatch(listed.stdout, 'd is bad', 'what is still being tried is no matter for a person')

  const asked = async () => (await db.selectFrom('failed_messages').select('key').where('attempt_at', 'is not', null).orderBy('key').execute()).map(({ key }) => key)
  t.match(await run(url, 'replay', 'b'), { code: 0, stdout: '1 will be tried again by the running service.\n' })
  t.strictSame(await asked(), ['b', 'd'])
  t.match(await run(url, 'replay', 'a', 'zzz'), { code: 1, stdout: /^1 will/, stderr: 'Not every key names a parked message.\n' })
  t.match(await run(url, 'replay', '--all'), { code: 0, stdout: /^3 will/ })
  t.strictSame(await asked(), ['a', 'b', 'c', 'd'])
})

t.test('it says how it is used, and what is wrong', async (t) => {
  const { url } = await testDatabase<Tables>(t, import.meta.dirname)
  const wrong = await Promise.all([run(url), run(url, 'replay'), run(url, 'list', 'x'), run(undefined, 'list')])
  for (const each of wrong) t.match(each, { code: 2, stderr: /^usage: DATABASE_URL/ })
  t.match(await run('postgres://nobody@127.0.0.1:1/nothing', 'list'), { code: 1, stderr: /^cannot read the failed messages: .*\n$/ })
})
