import type { EventDefinition, RpcDefinition } from '@tandem/contracts'
import { STREAM_MANAGER_USER } from './stream-manager.ts'
import { replyPrefixOf, inboxOf, realtimeSubjectOf, rpcSubjectOf, streamOf, subjectOf } from './subjects.ts'

/** What a service consumes, provides and calls. */
export interface Messaging {
  service: string
  consumes: EventDefinition[]
  provides: RpcDefinition[]
  calls: RpcDefinition[]
  /** Whether it sends realtime signals to the gateways. */
  sendsSignals?: boolean
}

interface Rights {
  publish: string[]
  subscribe: string[]
}

/** The user for manual work. It has every right. */
export const OPERATOR = 'operator'

/** The user of the gateways. */
const GATEWAY_USER = 'gateway'

/** The environment variable of the NATS server that holds a user's password. */
export const passwordVariable = (user: string) => `NATS_${user.toUpperCase()}_PASSWORD`

/**
 * The `authorization` block of a NATS server: one user per service, with the rights that the service needs and no
 * others.
 */
export function natsRights (all: Messaging[]): string {
  const users = all.map((messaging) => describeUser(messaging.service, rightsOf(messaging, all)))
  return `authorization {
  users: [
    { user: ${OPERATOR}, password: $${passwordVariable(OPERATOR)} }
${[describeUser(STREAM_MANAGER_USER, rightsOfStreamManager(all)), describeGateway(), ...users].join('\n')}
  ]
}
`
}

function rightsOf ({ service, consumes, provides, calls, sendsSignals }: Messaging, all: Messaging[]): Rights {
  const callers = all.filter((other) => other.calls.some((rpc) => rpc.service === service)).map((other) =>
    other.service
  )
  const publishers = unique(consumes.map((event) => event.service))
  return {
    publish: [
      subjectOf(`${service}.>`),
      `$JS.API.STREAM.INFO.${streamOf(service)}`,
      ...publishers.flatMap((publisher) => consumerSubjects(publisher, service)),
      ...unique(calls.map(({ type }) => rpcSubjectOf(type, service))),
      ...callers.map((caller) => `${replyPrefixOf(caller, service)}.>`),
      ...sendsSignals ? [realtimeSubjectOf(service)] : []
    ],
    subscribe: [`${inboxOf(service)}.>`, ...unique(provides.map(({ type }) => rpcSubjectOf(type, '*')))]
  }
}

/** The rights to create, inspect, fetch from and acknowledge its own durable consumer on the stream of `publisher`. */
function consumerSubjects (publisher: string, service: string) {
  const consumer = `${streamOf(publisher)}.${service}`
  return [
    `$JS.API.CONSUMER.INFO.${consumer}`,
    `$JS.API.CONSUMER.CREATE.${consumer}.${subjectOf(`${publisher}.>`)}`,
    `$JS.API.CONSUMER.MSG.NEXT.${consumer}`,
    `$JS.ACK.${consumer}.>`
  ]
}

function rightsOfStreamManager (all: Messaging[]): Rights {
  return {
    publish: all.flatMap(({ service }) =>
      ['STREAM.INFO', 'STREAM.CREATE', 'STREAM.PURGE', 'CONSUMER.LIST'].map((request) =>
        `$JS.API.${request}.${streamOf(service)}`
      )
    ),
    subscribe: [`${inboxOf(STREAM_MANAGER_USER)}.>`]
  }
}

/** The gateway receives realtime signals, and can do nothing else. */
const describeGateway = () =>
  `    {
      user: ${GATEWAY_USER}
      password: $${passwordVariable(GATEWAY_USER)}
      permissions: {
        publish: { deny: ">" }
        subscribe: [
          "${realtimeSubjectOf('*')}"
        ]
      }
    }`

function describeUser (user: string, { publish, subscribe }: Rights) {
  const list = (subjects: string[]) => subjects.map((subject) => `          "${subject}"`).join('\n')
  return `    {
      user: ${user}
      password: $${passwordVariable(user)}
      permissions: {
        publish: [
${list(publish)}
        ]
        subscribe: [
${list(subscribe)}
        ]
      }
    }`
}

const unique = (names: string[]) => [...new Set(names)].sort()
