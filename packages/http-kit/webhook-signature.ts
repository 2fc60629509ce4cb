import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A new secret of Standard Webhooks (https://www.standardwebhooks.com): `whsec_` and 32 bytes in base64. */
export const createWebhookSecret = () => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`

interface Webhook {
  /** The same at every attempt, so that the receiver can ignore repeats. */
  id: string
  body: string
  secret: string
}

/** The headers that prove a webhook to its receiver, who refuses it after some minutes: sign each attempt. */
export function signWebhook ({ id, body, secret }: Webhook) {
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
