import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import path from 'node:path'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { freePort } from './ports.ts'

export interface Mail {
  id: string
  date: string
  /** The same for a mail that its sender repeats. */
  messageId: string
  from: string
  /** The recipients of the SMTP envelope, in lower case. */
  to: string[]
  subject: string
  text: string
  html: string
}

export interface MailCatcher {
  smtpUrl: string
  /** The received mails, newest first. @param to only mails to this address */
  mails: (to?: string) => Mail[]
  clear: () => void
  /** Calls the listener for each new mail. */
  onMail: (listener: (mail: Mail) => void) => void
  /** Rejects every mail with this SMTP code, such as 451; without a code, accepts mails again. */
  rejectWith: (code?: number) => void
  stop: () => Promise<void>
}

const MAX_MAILS = 1_000

/**
 * Accepts every mail and delivers none. The newest thousand are kept as files in `dir`, written before they are
 * acknowledged. @param port the SMTP port, by default a free one
 */
export async function startMailCatcher (dir: string, port?: number): Promise<MailCatcher> {
  mkdirSync(dir, { recursive: true })
  const mails: Mail[] = []
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.json')).sort()) {
    const mail = readMail(path.join(dir, file))
    if (mail) mails.unshift(mail)
  }
  let rejectionCode: number | undefined
  let count = 0
  const listeners: ((mail: Mail) => void)[] = []

  const keep = async (raw: Buffer, to: string[]) => {
    const parsed = await PostalMime.parse(raw)
    const id = `${Date.now()}-${String(++count).padStart(6, '0')}`
    const mail: Mail = {
      id,
      date: new Date().toISOString(),
      messageId: parsed.messageId ?? '',
      from: parsed.from?.address ?? '',
      to: to.map((address) => address.toLowerCase()),
      subject: parsed.subject ?? '',
      text: parsed.text ?? '',
      html: parsed.html ?? ''
    }
    writeFileSync(path.join(dir, `${id}.json`), JSON.stringify(mail))
    mails.unshift(mail)
    for (const listener of listeners) listener(mail)
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
  await listen(smtp.server, port)

  return {
    smtpUrl: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
    mails: (to) => mails.filter((mail) => !to || mail.to.includes(to.toLowerCase())),
    clear () {
      for (const { id } of mails.splice(0)) rmSync(path.join(dir, `${id}.json`), { force: true })
    },
    onMail: (listener) => {
      listeners.push(listener)
    },
    rejectWith: (code) => {
      rejectionCode = code
    },
    stop: async () => await new Promise<void>((resolve) => smtp.close(resolve))
  }
}

/** Undefined for a mail that a full disk has cut: its sender got an error, and sends it again. */
function readMail (file: string): Mail | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Mail
  } catch {
    return undefined
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
