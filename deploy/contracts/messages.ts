import { createHash } from 'node:crypto'
import type { Messaging } from '@tandem/bus-kit'
import * as contracts from '@tandem/contracts'
import { clientFrames, serverFrames } from '@tandem/contracts/realtime'
import { readSamples } from '@tandem/contracts/samples'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { compareFields, type Rule } from './compare.ts'
import { listFields, type Fields } from './fields.ts'
import { print, sortKeys } from './print.ts'

/** How the parts of a message are compared. */
const rules = {
  data: 'exact',
  request: 'request',
  response: 'exact',
  sent: 'response',
  received: 'request'
} as const satisfies Record<string, Rule>
type PartName = keyof typeof rules
const partNames = Object.keys(rules) as PartName[]

interface Part {
  fields: Fields
  /** The checksum of what the sample holds, however it is formatted. Only events and RPCs have samples. */
  sample?: string
}

/**
 * An event, which has `data`, an RPC, which has a request and a response, or what apps and other systems get from us or
 * send: frames of realtime connections and the data of webhooks.
 */
type Message = Partial<Record<PartName, Part>>

/** What `packages/contracts/published.json` holds: each message by its type. */
export type Published = Record<string, Message>

/** The same as it is in the code now, with what is wrong with each sample. */
type Current = Record<string, Partial<Record<PartName, Part & { faults: string[] }>>>

export const publishedFile = 'packages/contracts/published.json'

/** The messages of packages/contracts; events and RPCs with their samples. */
export async function readContracts (): Promise<Current> {
  return { ...await readEventsAndRpcs(), ...readOutside() }
}

/** Frames and webhooks, under the name of the process that sends or receives them. */
function readOutside (): Current {
  const describe = (part: 'sent' | 'received', prefix: string, schemas: [type: string, schema: TSchema][]) =>
    schemas.map(([type, schema]) => [`${prefix}.${type}`, { [part]: { fields: listFields(schema), faults: [] } }])
  const dataOf = (frames: Record<string, { data: TSchema }>) =>
    Object.entries(frames).map(([type, { data }]): [string, TSchema] => [type, data])
  return Object.fromEntries([
    ...describe('sent', 'gateway.frame', dataOf(serverFrames)),
    ...describe('received', 'gateway.client-frame', dataOf(clientFrames)),
    ...describe('sent', 'notification.webhook-data', Object.entries(contracts.webhookData))
  ])
}

async function readEventsAndRpcs (): Promise<Current> {
  const definitions = Object.values(contracts).filter((each) => typeof each === 'object' && 'type' in each)
  return Object.fromEntries(
    await Promise.all(definitions.map(async (definition) => {
      const samples = await readSamples(definition)
      const schemas = 'data' in definition
        ? { data: definition.data }
        : { request: definition.request, response: definition.response }
      return [
        definition.type,
        Object.fromEntries(
          Object.entries(schemas).map(([name, schema]) => {
            const sample = samples[name as 'data' | 'request' | 'response']
            const faults = Compile(schema).Errors(sample).map(({ instancePath, message }) =>
              `the sample does not parse: ${instancePath.slice(1).replaceAll('/', '.')} ${message}`.replace('  ', ' ')
            )
            return [name, {
              fields: listFields(schema),
              sample: checksum(sample),
              faults: sample === undefined ? ['there is no sample'] : faults
            }]
          })
        )
      ]
    }))
  )
}

const checksum = (sample: unknown) =>
  createHash('sha256').update(JSON.stringify(sortKeys(sample)) ?? '').digest('hex').slice(0, 16)

export const printContracts = (current: Current) =>
  print(
    Object.fromEntries(
      Object.entries(current).map((
        [type, message]
      ) => [
        type,
        Object.fromEntries(Object.entries(message).map(([name, { fields, sample }]) => [name, { fields, sample }]))
      ])
    )
  )

/**
 * Why what is in the code now would break services that are deployed, or messages that wait in a stream: a sentence for
 * each event and RPC.
 */
export function compareContracts (published: Published, current: Current, messaging: Messaging[]): string[] {
  return [...new Set([...Object.keys(published), ...Object.keys(current)])].sort().flatMap((type) => {
    const [before = {}, now] = [published[type], current[type]]
    const changes = now ? compareMessage(before, now) : ['it is gone']
    const message = now ?? before
    const isEvent = 'data' in message
    if (changes.length === 0) return []
    if ('sent' in message || 'received' in message) {
      return [`Message ${type}: ${changes.join('; ')}. Apps and other systems rely on it. Leave it as it was.`]
    }
    const advice = published[type]
      ? `Leave it as it was, and ${isEvent ? 'publish' : 'provide'} ${nextVersion(type)} beside it.`
      : 'Add or correct the sample in packages/contracts/samples.'
    const users = describeUsers(type, isEvent, messaging)
    return [`${isEvent ? 'Event' : 'RPC'} ${type}: ${changes.join('; ')}. ${users} ${advice}`]
  })
}

function compareMessage (before: Message, now: Current[string]): string[] {
  return partNames.flatMap((name) => {
    const [was, is] = [before[name], now[name]]
    const place = name === 'request' || name === 'response' ? `${name}: ` : ''
    if (!is) return was ? [`the ${name} is gone`] : []
    const isEdited = was !== undefined && was.sample !== is.sample
    const changes = was
      ? compareFields(was.fields, is.fields, {
        rule: rules[name],
        olderParse: is.sample !== undefined && !isEdited && is.faults.length === 0
      })
      : []
    // A change explains by itself that an older sample does not parse.
    return [...changes, ...isEdited ? ['the sample was edited or removed'] : changes.length === 0 ? is.faults : []].map(
      (change) => place + change
    )
  })
}

function describeUsers (type: string, isEvent: boolean, messaging: Messaging[]): string {
  const users = messaging.filter(({ consumes, calls }) => [...consumes, ...calls].some((each) => each.type === type))
    .map(({ service }) => service)
  const verb = isEvent ? 'consume' : 'call'
  if (users.length === 0) return `No service ${verb}s it.`
  if (users.length === 1) return `${users[0]} ${verb}s it.`
  return `${users.slice(0, -1).join(', ')} and ${users.at(-1)} ${verb} it.`
}

const nextVersion = (type: string) => type.replace(/\d+$/, (version) => String(Number(version) + 1))
