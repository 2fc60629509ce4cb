import { request } from 'node:http'
import { deviceEvents } from './events.ts'

interface FormPart {
  fieldName: string
  string?: string
  uri?: string
}

type Body = string | { getParts: () => FormPart[] } | null | undefined

let lastId = 0
const running = new Map<number, ReturnType<typeof request>>()

/** The HTTP client of the phone, by node:http, with the interface that XMLHttpRequest of React Native calls. */
export default {
  addListener (type: string, listener: (args: unknown[]) => void) {
    deviceEvents.on(type, listener)
    return { remove: () => deviceEvents.off(type, listener) }
  },

  sendRequest (
    method: string,
    _trackingName: unknown,
    url: string,
    headers: Record<string, string>,
    body: Body,
    responseType: string,
    _isIncremental: boolean,
    _timeoutMs: number,
    onCreated: (id: number) => void
  ) {
    const id = ++lastId
    const { text, type } = encode(body)
    const sent = request(url, { method, headers: { ...headers, ...type && { 'content-type': type } } }, (response) => {
      const chunks: Buffer[] = []
      deviceEvents.emit('didReceiveNetworkResponse', [id, response.statusCode, response.headers, url])
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => {
        deviceEvents.emit('didReceiveNetworkData', [
          id,
          Buffer.concat(chunks).toString(responseType === 'base64' ? 'base64' : 'utf8')
        ])
        deviceEvents.emit('didCompleteNetworkResponse', [id, null, false])
      })
    })
    sent.on('error', ({ message }) => deviceEvents.emit('didCompleteNetworkResponse', [id, message, false]))
    running.set(id, sent)
    // The phone answers later.
    setImmediate(() => {
      onCreated(id)
      sent.end(text)
    })
  },

  abortRequest: (id: number) => running.get(id)?.destroy()
}

/** A form is encoded by the phone, which reads the files that it names. */
function encode (body: Body) {
  if (body === null || body === undefined || typeof body === 'string') return { text: body ?? '' }
  const parts = body.getParts().map(({ fieldName, string, uri }) =>
    `--b\r\ncontent-disposition: form-data; name="${fieldName}"\r\n\r\n${string ?? `the bytes of ${uri}`}\r\n`
  )
  return { text: `${parts.join('')}--b--\r\n`, type: 'multipart/form-data; boundary=b' }
}
