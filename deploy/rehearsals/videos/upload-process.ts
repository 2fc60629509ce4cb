// A process of its own, so that what it does takes no time from those whose waiting is measured. It uploads the video
// argv[2] to GATEWAY_URL for each of ACCESS_TOKENS at once, as fast as phones on a good mobile network. It says when it is
// ready, and begins when it gets a message: its own start would keep both processors busy for a second.
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { retry } from '../kit/retry.ts'
import { upload } from '../kit/upload.ts'

// 20 Mbit/s.
const BYTES_PER_SECOND = 2_500_000
const BOUNDARY = 'rehearsal-of-videos'

const [file = ''] = process.argv.slice(2)
const { GATEWAY_URL = '', ACCESS_TOKENS = '' } = process.env
const tokens = ACCESS_TOKENS.split(' ')

process.send?.('ready')
await once(process, 'message')
await Promise.all(tokens.map(async (token) => {
  await retry(async () => {
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
    await upload({ gateway: { url: GATEWAY_URL } }, '/media', { headers, body: createForm() }, { token })
  })
}))
process.disconnect?.()

async function* createForm () {
  const since = performance.now()
  let bytes = 0
  yield Buffer.from(
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="long.mp4"\r\ncontent-type: video/mp4\r\n\r\n`
  )
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    yield chunk
    bytes += chunk.length
    const aheadMs = bytes / BYTES_PER_SECOND * 1_000 - (performance.now() - since)
    if (aheadMs > 0) await sleep(aheadMs)
  }
  yield Buffer.from(`\r\n--${BOUNDARY}--\r\n`)
}
