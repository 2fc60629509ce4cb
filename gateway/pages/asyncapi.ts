import { isFeatureOn, readBrand } from '@tandem/brand-kit'
import type { FastifyInstance } from 'fastify'
import { clientFrames, closeCodes, REALTIME_PROTOCOL, serverFrames } from '@tandem/contracts/realtime'
import type { TSchema } from 'typebox'
import type { Config } from '../config.ts'
import { REALTIME_PATH } from '../realtime/upgrade.ts'

interface Frame {
  description: string
  data: TSchema
  isKept?: boolean
}

const messageOf = (type: string, { description, data, isKept = false }: Frame) => ({
  name: type,
  title: type,
  summary: description,
  payload: {
    type: 'object',
    required: ['type', ...isKept ? ['id'] : [], 'at', 'data'],
    properties: {
      type: { const: type },
      ...isKept && { id: { type: 'string', description: 'The resume token: the highest one names your position' } },
      at: { type: 'string', format: 'date-time' },
      data
    }
  }
})

/** Clients send no more than a type and data; anything else is ignored. */
const clientMessageOf = (type: string, { description, data }: Frame) => ({
  name: type,
  title: type,
  summary: description,
  payload: {
    type: 'object',
    required: ['type', ...Object.keys((data as { properties?: object }).properties ?? {}).length > 0 ? ['data'] : []],
    properties: { type: { const: type }, data }
  }
})

/** Of matches and their chats; `focus` is the chat that a person has open. */
const OF_FITMATCH = /^(messages?|match|chat|presence)\.|^(focus|watch)$/

const prefixed = <Value>(
  prefix: string,
  frames: Record<string, Frame>,
  describe: (type: string, frame: Frame) => Value
) =>
  Object.fromEntries(
    Object.entries(frames).filter(([type]) => isFeatureOn(OF_FITMATCH.test(type) ? 'fitmatch' : undefined))
      .map(([type, frame]) => [`${prefix}${type}`, describe(type, frame)])
  )

const description =
  `Everything that concerns the signed-in person, over one connection: a WebSocket with the subprotocol \
\`${REALTIME_PROTOCOL}\`, or server-sent events, whose data is the same frame. Frames with an id are kept for a day and \
replayed. Ignore types and fields that you do not know.

| Close code | Meaning |
|---|---|
${Object.entries(closeCodes).map(([code, meaning]) => `| ${code} | ${meaning} |`).join('\n')}`

/** The AsyncAPI 3.0 document of the realtime connection. */
export function describeRealtime ({ PUBLIC_URL, SERVER_VERSION }: Pick<Config, 'PUBLIC_URL' | 'SERVER_VERSION'>) {
  const { protocol, host } = new URL(PUBLIC_URL ?? 'http://127.0.0.1:8080')
  const isSecure = protocol === 'https:'
  const toClient = prefixed('', serverFrames, messageOf)
  const toServer = prefixed('client.', clientFrames, clientMessageOf)
  const refs = (names: string[], root: string) => names.map((name) => ({ $ref: `${root}/${name}` }))
  const server = (protocol: string) => ({ host, protocol, security: [{ $ref: '#/components/securitySchemes/bearer' }] })
  return {
    asyncapi: '3.0.0',
    info: {
      title: `${readBrand().brand.name} realtime`,
      version: SERVER_VERSION,
      description,
      license: { name: 'MIT' }
    },
    defaultContentType: 'application/json',
    servers: { webSocket: server(isSecure ? 'wss' : 'ws'), serverSentEvents: server(isSecure ? 'https' : 'http') },
    channels: {
      realtime: {
        address: REALTIME_PATH,
        messages: Object.fromEntries(
          Object.keys({ ...toClient, ...toServer }).map((name) => [name, { $ref: `#/components/messages/${name}` }])
        ),
        bindings: {
          ws: {
            method: 'GET',
            query: {
              type: 'object',
              properties: {
                after: { type: 'string', description: 'The id of the last frame: what was missed is sent' },
                watch: { type: 'string', description: 'Match ids, separated by commas, whose presence is sent' }
              }
            }
          }
        }
      }
    },
    operations: {
      sendFrame: {
        action: 'send',
        summary: 'What the server sends',
        channel: { $ref: '#/channels/realtime' },
        messages: refs(Object.keys(toClient), '#/channels/realtime/messages')
      },
      receiveFrame: {
        action: 'receive',
        summary: 'What a client sends, over a WebSocket only',
        channel: { $ref: '#/channels/realtime' },
        messages: refs(Object.keys(toServer), '#/channels/realtime/messages')
      }
    },
    components: {
      messages: { ...toClient, ...toServer },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } }
    }
  }
}

/** GET /asyncapi.json: every frame of the realtime connection. */
export async function serveAsyncapi (app: FastifyInstance, config: Pick<Config, 'PUBLIC_URL' | 'SERVER_VERSION'>) {
  const document = JSON.stringify(describeRealtime(config))
  app.get(
    '/asyncapi.json',
    { config: { public: true, logged: false, limitsFloods: true } },
    async (_request, reply) =>
      await reply.headers({ 'cache-control': 'public, max-age=600', 'access-control-allow-origin': '*' })
        .type('application/json; charset=utf-8').send(document)
  )
}
