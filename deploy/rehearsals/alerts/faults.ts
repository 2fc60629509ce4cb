import pg from 'pg'
import type { TestMail } from '@tandem/test-kit'
import { call } from '../kit/call.ts'
import { readStack, type Stack } from '../kit/stack.ts'
import type { startExporters } from './exporters.ts'
import type { Labels } from './prometheus.ts'

/** A fault, and the alert that it must cause. */
export interface Fault {
  name: string
  /** The name and labels of the alert. */
  alert: Labels
  /** Breaks something; returns what mends it. */
  break: () => Promise<() => Promise<unknown>>
}

interface Rehearsed {
  stack: Stack
  dataDir: string
  mail: TestMail
  exporters: Awaited<ReturnType<typeof startExporters>>
  streams: { stop: () => Promise<unknown>, start: () => Promise<unknown> }
}

interface Registered {
  accessToken: string
}

const HOUR_S = 3_600

/** Faults that do not influence each other, so that they can happen at once. */
export function listFaults ({ stack, dataDir, mail, exporters, streams }: Rehearsed): Fault[] {
  const register = async (name: string) =>
    await call<Registered>(stack, 'POST', '/auth/register', {
      body: { email: `${name}@example.com`, password: 'Correct-horse-7' }
    })

  return [
    {
      name: 'the SMTP server is down and somebody signs up',
      alert: { alertname: 'MailLate', service: 'identity' },
      async break () {
        await mail.stop()
        await register('ben')
        return mail.start
      }
    },
    {
      name: 'a lock lets notification neither handle an event nor store that it failed',
      alert: { alertname: 'ConsumerStuck', service: 'notification', from: 'social' },
      async break () {
        const { accessToken: token } = await register('ana')
        const client = await open(stack)
        await client.query('begin')
        await client.query('lock notification.notifications, notification.failed_messages in access exclusive mode')
        const { user } = await call<{ user: { profile: { username: string } } }>(stack, 'GET', '/auth/me', {
          token: (await register('eve')).accessToken
        })
        await call(stack, 'POST', '/feed', {
          token,
          body: { type: 'TEXT', content: `running with @${user.profile.username}` }
        })
        // The end of the connection ends the lock.
        return async () => await client.end()
      }
    },
    {
      name: 'the process streams is gone, and nothing discovers it any more',
      alert: { alertname: 'DeploymentGone', job: 'streams' },
      async break () {
        await streams.stop()
        return streams.start
      }
    },
    {
      name: 'fitmatch does not respond (SIGSTOP)',
      alert: { alertname: 'ProcessDown', job: 'fitmatch' },
      async break () {
        const { services } = await readStack(dataDir)
        const pid = services['fitmatch']!.pid!
        process.kill(pid, 'SIGSTOP')
        return async () => process.kill(pid, 'SIGCONT')
      }
    },
    {
      name: 'the last backup succeeded 27 hours ago',
      alert: { alertname: 'BackupOld' },
      async break () {
        await exporters.setBackupAge(27 * HOUR_S)
        return async () => await exporters.setBackupAge(0)
      }
    },
    {
      name: 'the certificate ends in 5 days',
      alert: { alertname: 'CertificateExpires', job: 'blackbox' },
      async break () {
        await exporters.setCertificate({ days: 5 })
        return async () => await exporters.setCertificate({ days: 90 })
      }
    }
  ]
}

/** A fault that every service notices. */
export const readOnlyPostgres = (stack: Stack): Fault => ({
  name: 'Postgres is read-only',
  alert: { alertname: 'PostgresReadOnly', job: 'social' },
  async break () {
    const client = await open(stack)
    await client.query('alter system set default_transaction_read_only = on')
    await client.query('select pg_reload_conf()')
    return async () => {
      await client.query('alter system reset default_transaction_read_only')
      await client.query('select pg_reload_conf()')
      await client.end()
    }
  }
})

async function open (stack: Stack) {
  const client = new pg.Client({ connectionString: stack.postgres.url })
  await client.connect()
  return client
}
