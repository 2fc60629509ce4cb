import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import sharp from 'sharp'
import { formWith } from './testing.ts'
const photo = await sharp({ create: { width: 3_000, height: 2_000, channels: 3, noise: { type: 'gaussian', mean: 128, sigma: 60 } } }).jpeg({ quality: 90 }).toBuffer()
console.log(photo.length)
const folder = await mkdtemp('/tmp/tandem-mem-')
const child = fork('/work/main/packages/media-kit/upload-server.ts', [folder], { execArgv: [], env: { ...process.env, TMPDIR: folder } })
const [{ address }] = await once(child, 'message') as any
const most = async () => { child.send('most'); return (await once(child, 'message') as any)[0].most / 1024 ** 2 | 0 }
const { headers, payload } = formWith(photo, { type: 'image/jpeg' })
const upload = async () => (await fetch(address, { method: 'POST', headers, body: new Uint8Array(payload) })).status
const t0 = performance.now()
for (let i = 0; i < 2; i++) await upload()
console.log('alone', await most(), (performance.now() - t0) / 2 | 0)
for (let r = 0; r < 3; r++) { const t1 = performance.now(); await Promise.all(Array.from({ length: 20 }, upload)); console.log('together', await most(), performance.now() - t1 | 0) }
child.kill(); await rm(folder, { recursive: true })
