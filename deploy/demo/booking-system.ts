// The booking system of docs/integrations.md. It tells Tandem about its bookings, and forgets people who leave.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'

const { TANDEM_URL = '', PRODUCER_KEY = '', WEBHOOK_SECRET = '', PORT = '3000' } = process.env
const bookings = new Map<string, { bookingId: string, accountId: string }>()

/** Sends an event until Tandem has it. Its id makes a repeat harmless. */
async function tell (type: 'booking.confirmed' | 'booking.cancelled', data: { bookingId: string, accountId: string }) {
  const event = { specversion: '1.0', id: `${type} ${data.bookingId}`, source: 'bookings', type, data }
  for (let attempt = 0;; attempt++) {
    const response = await fetch(`${TANDEM_URL}/producers/events`, {
      method: 'POST',
      headers: { 'authorization': `Bearer ${PRODUCER_KEY}`, 'content-type': 'application/cloudevents+json' },
      body: JSON.stringify({ ...event, time: new Date().toISOString() })
    }).catch(() => undefined)
    if (response?.ok) return
    if (response && response.status < 500 && response.status !== 429) throw new Error(await response.text())
    await sleep(Math.min(1_000 * 2 ** attempt, 60_000))
  }
}

async function answer (request: IncomingMessage, response: ServerResponse) {
  const body = await text(request)
  const [, path, id = ''] = request.url!.split('/')
  if (path === 'webhooks') {
    const { type, data } = new Webhook(WEBHOOK_SECRET).verify(body, request.headers as Record<string, string>) as {
      type: string,
      data: { accountId: string }
    }
    const isTheirs = (each: { accountId: string }) => type === 'account.deleted' && each.accountId === data.accountId
    for (const booking of bookings.values()) if (isTheirs(booking)) bookings.delete(booking.bookingId)
  } else if (request.method === 'POST') {
    const booking = JSON.parse(body) as { bookingId: string, accountId: string }
    bookings.set(booking.bookingId, booking)
    await tell('booking.confirmed', booking)
  } else if (request.method === 'DELETE') {
    const booking = bookings.get(id)
    if (booking && bookings.delete(id)) await tell('booking.cancelled', { bookingId: id, accountId: booking.accountId })
  }
  response.end(JSON.stringify([...bookings.values()]))
}

createServer((request, response) => {
  answer(request, response).catch(() => response.writeHead(400).end())
}).listen(Number(PORT), '127.0.0.1')
