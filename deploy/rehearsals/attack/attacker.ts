import { once } from 'node:events'
import { request } from 'node:http'
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, fetch as fetchFrom } from 'undici'
import { pictureForm, plainPng, type Upload } from '../kit/pictures.ts'

// The attacking account, in a process of its own: `node attacker.ts <attack>`, until it is killed. It runs at the
// lowest priority, because a real attacker uses another machine.
setPriority(19)

const { GATEWAY_URL = '', ACCESS_TOKEN = '' } = process.env
const base = `${GATEWAY_URL}/api/mobile/v1`
// An address of its own, so that limits per address do not protect the measured accounts.
const localAddress = '127.50.1.1'
const dispatcher = new Agent({ localAddress, connections: 64 })
const authorization = `Bearer ${ACCESS_TOKEN}`
const statuses = new Map<number, number>()

async function send (method: string, path: string, { json, form }: { json?: object, form?: Upload } = {}) {
  const response = await fetchFrom(`${base}${path}`, {
    method,
    dispatcher,
    headers: { authorization, ...(json && { 'content-type': 'application/json' }), ...form?.headers },
    ...(json && { body: JSON.stringify(json) }),
    ...(form && { body: form.body })
  })
  await response.arrayBuffer()
  count(response.status)
}

const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1)

/** Repeats `attempt` until the process ends, `concurrency` at a time. Failures are part of an attack. */
async function repeat (concurrency: number, attempt: () => Promise<void>) {
  await Promise.all(Array.from({ length: concurrency }, async () => {
    for (;;) {
      await attempt().catch(() => count(0))
      // Rejections are immediate, and no attacker opens unlimited connections a second.
      await sleep(5)
    }
  }))
}

/** Uploads a body of 4 MB at one byte a second. */
async function uploadSlowly () {
  const { hostname, port } = new URL(base)
  const upload = request({
    hostname,
    port,
    localAddress,
    agent: false,
    method: 'POST',
    path: '/api/mobile/v1/media',
    headers: { authorization, 'content-type': 'multipart/form-data; boundary=x', 'content-length': 4_000_000 }
  })
  const trickle = setInterval(() => upload.write('-'), 1_000)
  upload.on('error', () => {})
  upload.on('response', (response) => {
    count(response.statusCode ?? 0)
    response.resume().on('end', () => upload.destroy())
  })
  upload.flushHeaders()
  await once(upload, 'close')
  clearInterval(trickle)
}

/** Each of these once slowed down every account. */
export const attacks = {
  'slow uploads': async () => await repeat(16, uploadSlowly),
  'the largest images': async () => {
    // One that is too large, and the largest that are still decoded, with 8 and with 16 bits.
    const images = [
      await plainPng({ width: 6_300, height: 6_300, bits: 16 }),
      await plainPng({ width: 5_470, height: 5_470, bits: 8 }),
      await plainPng({ width: 3_160, height: 3_160, bits: 16 })
    ]
    let turn = 0
    await repeat(8, async () => await send('POST', '/media', { form: pictureForm(images[turn++ % images.length]!) }))
  },
  'wrong current passwords': async () =>
    await repeat(70, async () =>
      await send('POST', '/auth/change-password', {
        json: { currentPassword: 'Wrong-horse-8', password: 'Better-horse-9' }
      })),
  'discover at the pole': async () => {
    await send('PUT', '/fitmatch/profile', { json: { latitude: 89.9, longitude: 0, maxDistance: 500 } })
    await repeat(12, async () => await send('GET', '/fitmatch/discover'))
  },
  'trending reads': async () => await repeat(32, async () => await send('GET', '/feed?feedType=trending'))
}

const [attack] = process.argv.slice(2)
if (import.meta.main) {
  process.on('SIGTERM', () => {
    process.stdout.write(JSON.stringify(Object.fromEntries(statuses)))
    process.exit()
  })
  await attacks[attack as keyof typeof attacks]()
}
