import { execFile } from 'node:child_process'
import path from 'node:path'
import { testDatabase } from '@tandem/database-kit/testing'
import t from 'tap'
import { insertFailed } from './failed-messages.ts'
import type { Tables } from './test-bus.ts'

const program = path.join(import.meta.dirname, 'failed-messages-cli.ts')

async function run (url: string | undefined, ...args: string[]) {
  return await new Promise<{ code: number, stdout: string, stderr: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      { env: { ...process.env, DATABASE_URL: url ?? '' } },
      (_, stdout, stderr) => {
        resolve({ code: child.exitCode ?? -1, stdout, stderr })
      }
    )
  })
}

t.test('an operator lists and replays dead letters', async (t) => {
  const { db, url } = await testDatabase<Tables>(t, import.meta.dirname)
  t.match(await run(url, 'list'), { code: 0, stdout: 'There are no dead letters.\n' })

  for (const key of ['a', 'b', 'c', 'd']) {
    const message = {
      key,
      stream: 'EVENTS_ALPHA',
      type: 'alpha.thing.happened.v1',
      message: '{}',
      traceparent: null,
      request_id: null
    }
    await insertFailed(db, message, { error: new Error(`${key} is bad`), transient: false, permanent: key !== 'd' })
  }
  const listed = await run(url, 'list')
  t.match(listed, {
    code: 0,
    stdout: /a {2}alpha\.thing\.happened\.v1 {2}dead since .*\n {4}Error: a is bad\nb[^]*3 dead letters\.\n$/
  })
  t.notMatch(listed.stdout, 'd is bad', 'a message that is still retried is not listed')

  const readDue = async () =>
    (await db.selectFrom('failed_messages').select('key').where('next_attempt_at', 'is not', null).orderBy('key')
      .execute()).map(({ key }) => key)
  t.match(await run(url, 'replay', 'b'), { code: 0, stdout: 'The running service will retry 1.\n' })
  t.strictSame(await readDue(), ['b', 'd'])
  t.match(await run(url, 'replay', 'a', 'zzz'), {
    code: 1,
    stdout: /will retry 1\./,
    stderr: 'Some keys do not name a dead letter. Run `list` to see the keys.\n'
  })
  t.match(await run(url, 'replay', '--all'), { code: 0, stdout: /will retry 3\./ })
  t.strictSame(await readDue(), ['a', 'b', 'c', 'd'])
})

t.test('wrong arguments and an unreachable database are reported', async (t) => {
  const { url } = await testDatabase<Tables>(t, import.meta.dirname)
  const wrong = await Promise.all([run(url), run(url, 'replay'), run(url, 'list', 'x'), run(undefined, 'list')])
  for (const each of wrong) t.match(each, { code: 2, stderr: /^usage: DATABASE_URL/ })
  t.match(await run('postgres://nobody@127.0.0.1:1/nothing', 'list'), {
    code: 1,
    stderr: /^Cannot read the failed messages: .*\n$/
  })
})
