import { parseArgs } from 'node:util'
import { WEBHOOK_TYPES } from '@tandem/contracts'
import { isUuid, parseInstant } from '@tandem/http-kit'
import { auditShell, UsageError } from '@tandem/operator-kit'
import type { Db } from '../tables.ts'
import { addEndpoint, disableByOperator, enableEndpoint, replay } from './operators.ts'
import { listEndpoints } from './queries.ts'

export const usage = `usage: npm run operator -- webhooks <command>

  add <url> --events <type>,…   add an endpoint of another system; prints its secret, once.
                                Types: ${WEBHOOK_TYPES.join(', ')}
  list                          list the endpoints
  disable <id>                  send nothing more to an endpoint
  enable <id>                   send to it again what happens from now on
  replay <id> --since <time>    send again what happened since then, such as 2026-12-01T07:00Z; at most 14 days`

/** Runs a command of the shell. @throws UsageError if the arguments are not one */
export async function runCommand (db: Db, privateHosts: string[], args: string[]): Promise<string | object[]> {
  const { values, positionals: [command, subject = '', ...others] } = parseArgs({
    args,
    allowPositionals: true,
    options: { events: { type: 'string' }, since: { type: 'string' } }
  })
  if (others.length > 0) throw new UsageError()
  if (command === 'list') return await list(db)
  if (command === 'add') {
    const eventTypes = readTypes(values.events)
    if (!URL.canParse(subject)) throw new UsageError()
    await auditShell(db, 'webhooks add', new URL(subject).host)
    const { id, secret } = await addEndpoint({ db, webhookPrivateHosts: new Set(privateHosts) }, {
      url: subject,
      eventTypes
    })
    return `${secret}\nThis secret is not shown again. The endpoint is ${id}`
  }
  if (!isUuid(subject)) throw new UsageError()
  switch (command) {
    case 'disable':
      await auditShell(db, 'webhooks disable', subject)
      await disableByOperator(db, subject)
      return 'Nothing more is sent to it'
    case 'enable':
      await auditShell(db, 'webhooks enable', subject)
      await enableEndpoint(db, subject)
      return 'What happens from now on is sent to it'
    case 'replay': {
      const since = readTime(values.since)
      await auditShell(db, 'webhooks replay', subject)
      return `${await replay(db, { id: subject, since })} webhooks are sent again within a minute`
    }
  }
  throw new UsageError()
}

const list = async (db: Db) =>
  (await listEndpoints(db)).map(({ id, url, eventTypes, pending, lastSuccessAt, disabledReason }) => ({
    id,
    url,
    state: disabledReason === null ? 'active' : `disabled: ${disabledReason}`,
    pending,
    accepted: lastSuccessAt,
    events: eventTypes.join(' ')
  }))

function readTypes (text = '') {
  const types = text.split(',').map((each) => WEBHOOK_TYPES.find((type) => type === each))
  if (types.includes(undefined)) throw new UsageError()
  return types.filter((type) => type !== undefined)
}

function readTime (text = '') {
  const instant = parseInstant(text)
  if (!instant) throw new UsageError()
  return new Date(instant.epochMilliseconds)
}
