import { producerEventTypes } from '@tandem/contracts'
import { auditShell, UsageError } from '@tandem/operator-kit'
import { parseArgs } from 'node:util'
import { ProducerNotFound } from '../errors.ts'
import type { Db } from '../tables.ts'
import {
  addProducer,
  DEFAULT_EVENTS_PER_SECOND,
  MAX_EVENTS_PER_SECOND,
  PRODUCER_NAME,
  revokeOldKey,
  revokeProducer,
  rotateKey
} from './actions.ts'
import { findProducerByName, listProducers } from './queries.ts'

export const usage = `usage: npm run operator -- producers <command>

  add <name> --events <type>,… [--rate <n>]  add a system that sends events; prints its key, once.
                                             Types: ${producerEventTypes.join(', ')}
                                             Rate: events per second, ${DEFAULT_EVENTS_PER_SECOND} by default
  list                                       list the producers and their keys
  rotate <name>                              print another key; the one in use stays valid until the next command
  revoke <name> --old-key                    end the key before the newest one
  revoke <name>                              end the producer and all its keys, at once`

/** Runs a command of the shell. @throws UsageError if the arguments are not one */
export async function runCommand (db: Db, args: string[]): Promise<string | object[]> {
  const { values, positionals: [command, name, ...others] } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      'events': { type: 'string' },
      'rate': { type: 'string' },
      'old-key': { type: 'boolean', default: false }
    }
  })
  if (others.length > 0) throw new UsageError()
  if (command === 'list') return await listKeys(db)
  if (name === undefined || !new RegExp(PRODUCER_NAME).test(name)) throw new UsageError()
  switch (command) {
    case 'add': {
      const producer = { name, eventTypes: readTypes(values.events), eventsPerSecond: readRate(values.rate) }
      await auditShell(db, 'producers add', name)
      const { key } = await addProducer(db, producer)
      return `${key}\nThis key is not shown again. ${name} sends it as Authorization: Bearer <key>`
    }
    case 'rotate': {
      await auditShell(db, 'producers rotate', name)
      const { key } = await rotateKey(db, await idOf(db, name))
      return `${key}\nThis key is not shown again. The key in use stays valid: end it with revoke ${name} --old-key`
    }
    case 'revoke': {
      await auditShell(db, 'producers revoke', name)
      const id = await idOf(db, name)
      await (values['old-key'] ? revokeOldKey(db, id) : revokeProducer(db, id))
      return values['old-key'] ? `Only the newest key of ${name} is valid` : `No key of ${name} is valid`
    }
  }
  throw new UsageError()
}

async function listKeys (db: Db) {
  const producers = await listProducers(db)
  return producers.flatMap(({ name, eventTypes, eventsPerSecond, revokedAt, droppedCount, keys }) =>
    keys.map(({ hint, isRevoked, createdAt, lastUsedAt }) => ({
      name,
      state: revokedAt ? 'revoked' : 'active',
      key: `…${hint}${isRevoked ? ' (revoked)' : ''}`,
      created: createdAt,
      used: lastUsedAt,
      events: eventTypes.join(' '),
      rate: eventsPerSecond,
      dropped: droppedCount
    }))
  )
}

async function idOf (db: Db, name: string) {
  const found = await findProducerByName(db, name)
  if (!found) throw new ProducerNotFound()
  return found.id
}

function readTypes (text = '') {
  const types = text.split(',').map((each) => producerEventTypes.find((type) => type === each))
  if (types.includes(undefined)) throw new UsageError()
  return types.filter((type) => type !== undefined)
}

function readRate (text: string | undefined) {
  if (text === undefined) return undefined
  const rate = Number(text)
  if (!Number.isInteger(rate) || rate < 1 || rate > MAX_EVENTS_PER_SECOND) throw new UsageError()
  return rate
}
