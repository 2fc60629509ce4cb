import { createServer, type Server, type ServerResponse } from 'node:http'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { freePort } from './ports.ts'
import { listPage, mailPage, type Mail } from './mail-page.ts'

export interface MailCatcher {
  smtpUrl: string
  url: string
  /** The received mails, newest first. @param to only mails to this address */
  mails: (to?: string) => Mail[]
  clear: () => void
  /** Rejects every mail with this SMTP code, such as 451; without a code, accepts mails again. */
  rejectWith: (code?: number) => void
  stop: () => Promise<void>
}

const MAX_MAILS = 1_000

/**
 * Accepts every mail and delivers none. The newest thousand are kept as files in `dir`, written before they are
 * acknowledged. They are shown on a page, and as JSON for tests: `GET /api/mails?to=ana@example.com`, `DELETE
 * /api/mails`.
 */
export async function startMailCatcher (
  dir: string,
  ports: { smtp?: number, http?: number } = {}
): Promise<MailCatcher> {
  mkdirSync(dir, { recursive: true })
  const mails: Mail[] = []
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.json')).sort()) {
    mails.unshift(JSON.parse(readFileSync(path.join(dir, file), 'utf8')) as Mail)
  }
  let rejectionCode: number | undefined
  let count = 0

  const keep = async (raw: Buffer, to: string[]) => {
    const parsed = await PostalMime.parse(raw)
    const id = `${Date.now()}-${String(++count).padStart(6, '0')}`
    const mail: Mail = {
      id,
      date: new Date().toISOString(),
      from: parsed.from?.address ?? '',
      to: to.map((address) => address.toLowerCase()),
      subject: parsed.subject ?? '',
      text: parsed.text ?? '',
      html: parsed.html ?? ''
    }
    writeFileSync(path.join(dir, `${id}.json`), JSON.stringify(mail))
    mails.unshift(mail)
    for (const old of mails.splice(MAX_MAILS)) rmSync(path.join(dir, `${old.id}.json`), { force: true })
  }

  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 500,
    onAuth: (_auth, _session, done) => done(null, { user: 'anyone' }),
    onData (stream, { envelope }, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        if (rejectionCode) return done(Object.assign(new Error('Rejected on request'), { responseCode: rejectionCode }))
        keep(Buffer.concat(chunks), envelope.rcptTo.map(({ address }) => address)).then(
          () => done(),
          (error: Error) => done(error)
        )
      })
    }
  })
  smtp.on('error', () => {})
  await listen(smtp.server as Server, ports.smtp)

  const clear = () => {
    for (const { id } of mails.splice(0)) rmSync(path.join(dir, `${id}.json`), { force: true })
  }
  const find = (to: string | null | undefined) =>
    to ? mails.filter((mail) => mail.to.includes(to.toLowerCase())) : mails

  const http = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const mail = mails.find(({ id }) => pathname === `/mails/${id}`)
    if (pathname === '/api/mails' && request.method === 'DELETE') {
      clear()
      send(response, 204, 'application/json', '')
    } else if (pathname === '/api/mails') {
      send(response, 200, 'application/json', JSON.stringify(find(searchParams.get('to'))))
    } else if (pathname === '/') send(response, 200, 'text/html', listPage(mails))
    else if (mail) send(response, 200, 'text/html', mailPage(mail))
    else send(response, 404, 'text/plain', 'Mail not found')
  })
  await listen(http, ports.http)

  return {
    smtpUrl: `smtp://127.0.0.1:${portOf(smtp.server as Server)}`,
    url: `http://127.0.0.1:${portOf(http)}`,
    mails: (to) => [...find(to)],
    clear,
    rejectWith: (code) => {
      rejectionCode = code
    },
    async stop () {
      http.closeAllConnections()
      await Promise.all([
        new Promise<void>((resolve) => smtp.close(resolve)),
        new Promise((resolve) => http.close(resolve))
      ])
    }
  }
}

async function listen (server: Server, port?: number) {
  for (let attempt = 1;; attempt++) {
    server.listen(port ?? await freePort(), '127.0.0.1')
    try {
      await once(server, 'listening')
      return
    } catch (error) {
      if (port || attempt === 3) throw error
    }
  }
}

function portOf (server: Server): number {
  return (server.address() as AddressInfo).port
}

function send (response: ServerResponse, status: number, type: string, body: string) {
  // A mail's HTML is shown in a sandboxed frame without scripts or forms; its text is escaped.
  response.writeHead(status, {
    'content-type': `${type}; charset=utf-8`,
    'content-security-policy': "script-src 'none'"
  }).end(body)
}
