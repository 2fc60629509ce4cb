import { listErrors } from '@tandem/http-kit'
import { realtimeErrors } from './errors.ts'

const event = {
  type: 'hello',
  at: '2026-01-31T09:00:00.000Z',
  data: {
    connectionId: '019aa1f0-0000-7000-8000-000000000011',
    position: '6f1d2c3b4a596877-41',
    resumed: false,
    unreadCount: 3,
    heartbeatSeconds: 25,
    expiresAt: '2026-01-31T09:15:00.000Z'
  }
}

/** GET /realtime in the OpenAPI document. The frames are in the AsyncAPI document. */
export const describeConnection = () => ({
  '/realtime': {
    get: {
      operationId: 'connectRealtime',
      summary: 'Open a realtime connection',
      description:
        'Messages, matches, notifications, presence and typing as they happen. Upgrade to a WebSocket with the ' +
        'subprotocol `tandem.v1`, or accept `text/event-stream`. A browser sends the token of a WebSocket as a second ' +
        'subprotocol, `bearer.<token>`. `/asyncapi.json` describes every frame.',
      'x-extension': true,
      security: [{ bearer: [] }],
      parameters: [
        {
          name: 'after',
          in: 'query',
          description: 'The id of the last frame that the client got: what it missed is sent. Or `Last-Event-ID`',
          schema: { type: 'string', maxLength: 100 }
        },
        {
          name: 'watch',
          in: 'query',
          description: 'At most 50 match ids, separated by commas, whose presence is sent',
          schema: { type: 'string' }
        }
      ],
      'x-errors': listErrors({ method: 'GET', schema: { querystring: {}, errors: realtimeErrors }, config: {} }),
      responses: {
        101: { description: 'A WebSocket with the subprotocol `tandem.v1`' },
        200: {
          description: 'Server-sent events, until the token expires',
          content: {
            'text/event-stream': {
              schema: { type: 'string' },
              example: `event: hello\nid: ${event.data.position}\ndata: ${JSON.stringify(event)}\n\n`
            }
          }
        }
      }
    }
  }
})
