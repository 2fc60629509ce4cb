import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { UsageError } from '@tandem/operator-kit'
import t from 'tap'
import { testApp } from '../test/app.ts'
import { runCommand } from './commands.ts'

const { db, url, receive } = await testApp(t)

/** @returns what the command prints, or its error */
async function run (...args: string[]) {
  const cli = path.join(import.meta.dirname, 'cli.ts')
  const env = { ...process.env, DATABASE_URL: url, LOG_LEVEL: 'warn', WEBHOOK_PRIVATE_HOSTS: '127.0.0.1' }
  return await promisify(execFile)(process.execPath, [cli, ...args], { env })
    .then(({ stdout }) => stdout, ({ stderr }: { stderr: string }) => stderr)
}

/** The same in this process, which starts none. */
const operate = async (...args: string[]) => await runCommand(db, ['127.0.0.1'], args)

t.test(
  'an operator adds, lists, disables, enables and replays an endpoint in the shell',
  async (t) => {
    t.match(await run('add', 'https://crm.example.com', '--events', 'account.verified,secrets'), /^usage/)
    t.match(await run('add', 'https://10.0.0.1', '--events', 'account.verified'), /must be an https address/)
    const added = await run('add', 'http://127.0.0.1:3000/webhooks', '--events', 'account.verified')
    t.match(added, /^whsec_[\w+/]{43}=\n/)
    const [id = ''] = /[\da-f-]{36}/.exec(added) ?? []
    await receive('identity.account.verified.v1', { accountId: id })
    t.match(await run('list'), new RegExp(`${id}.*127.0.0.1:3000.*active.*1`))
    t.match(await operate('disable', id), 'Nothing more is sent')
    await t.rejects(operate('replay', id, '--since', '2026-01-01T00:00Z'), { message: 'WEBHOOK_DISABLED' })
    t.match(await operate('enable', id), 'is sent to it')
    t.match(await operate('replay', id, '--since', '2026-01-01T00:00Z'), /^1 webhooks/)
    await t.rejects(operate('replay', id, '--since', 'yesterday'), UsageError)
    const audit = await db.selectFrom('audit_entries').select(['role', 'action']).orderBy('number').execute()
    t.match(audit.at(-1), { role: 'SHELL', action: 'webhooks replay' })
    t.notMatch(JSON.stringify(audit), /whsec_/)
  }
)
