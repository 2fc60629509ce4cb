import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  to: string[]
  messageId: string
  raw: string
}

/** Starts an SMTP server that can be stopped, reject mails, and delay its responses. */
export async function startSmtp (t: { teardown(work: () => unknown): unknown }) {
  let server: SMTPServer | undefined
  let port = 0
  const self = {
    received: [] as ReceivedMail[],
    connections: 0,
    /** Rejects each mail with this code. */
    rejectionCode: undefined as number | undefined,
    /** The delay between receiving a mail and confirming it. */
    responseDelayMs: 0,
    get url() {
      return `smtp://127.0.0.1:${port}`
    },
    async start () {
      server = new SMTPServer({
        authOptional: true,
        disabledCommands: ['STARTTLS'],
        disableReverseLookup: true,
        closeTimeout: 100,
        onConnect: (_session, done) => {
          self.connections++
          done()
        },
        onData: (stream, { envelope }, done) => {
          const chunks: Buffer[] = []
          stream.on('data', (chunk: Buffer) => chunks.push(chunk))
          stream.on('end', () => {
            if (self.rejectionCode) {
              return done(Object.assign(new Error('rejected'), { responseCode: self.rejectionCode }))
            }
            const raw = Buffer.concat(chunks).toString()
            self.received.push({
              to: envelope.rcptTo.map(({ address }) => address),
              messageId: /^message-id: (.*)$/im.exec(raw)?.[1]?.trim() ?? '',
              raw
            })
            setTimeout(done, self.responseDelayMs).unref()
          })
        }
      })
      server.on('error', () => {})
      server.listen(port, '127.0.0.1')
      await once(server.server, 'listening')
      port = (server.server.address() as AddressInfo).port
    },
    async stop () {
      const stopped = server
      server = undefined
      if (stopped) await new Promise<void>((resolve) => stopped.close(resolve))
    }
  }
  t.teardown(() => self.stop())
  await self.start()
  return self
}
