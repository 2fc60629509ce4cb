import { connect } from 'node:net'
import { once } from 'node:events'

interface Load {
  port: number
  /** The requests, of which each connection sends one after the other, in turn. */
  requests: { path: string, headers: Record<string, string> }[]
  connections: number
  seconds: number
}

/**
 * Sends requests over connections that stay open, the next one after each response, with as little work as possible: on
 * a small machine the load takes CPU time from what it measures.
 * @returns the duration of each request in milliseconds
 * @throws if a response is not 200
 */
export async function loadHttp ({ port, requests, connections, seconds }: Load): Promise<number[]> {
  const texts = requests.map(({ path, headers }) =>
    Buffer.from(
      `GET ${path} HTTP/1.1\r\nHost: x\r\n${
        Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')
      }\r\n`
    )
  )
  const took: number[] = []
  let turn = 0
  const until = performance.now() + seconds * 1_000
  await Promise.all(Array.from({ length: connections }, async () => {
    const socket = connect(port, '127.0.0.1').setNoDelay()
    await once(socket, 'connect')
    await new Promise<void>((resolve, reject) => {
      let since = 0
      let missing = 0
      const send = () => {
        since = performance.now()
        if (since > until) return resolve()
        socket.write(texts[turn++ % texts.length]!)
      }
      socket.on('error', reject).on('data', (chunk: Buffer) => {
        try {
          missing = missing > 0 ? missing - chunk.length : missingAfter(chunk)
        } catch (error) {
          return reject(error as Error)
        }
        if (missing > 0) return
        took.push(performance.now() - since)
        send()
      })
      send()
    }).finally(() => socket.destroy())
  }))
  return took
}

/** How many bytes of a response are still to come after its first part. */
function missingAfter (chunk: Buffer) {
  const end = chunk.indexOf('\r\n\r\n')
  const head = chunk.toString('latin1', 0, end)
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN)
  if (!head.startsWith('HTTP/1.1 200') || Number.isNaN(length)) throw new Error(chunk.toString())
  return end + 4 + length - chunk.length
}
