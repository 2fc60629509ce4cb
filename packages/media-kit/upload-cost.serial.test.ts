import { postThenRead } from '@tandem/http-kit/testing'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { UPLOAD_BODY_LIMIT } from './index.ts'
import { startUploadServer } from './testing.ts'

/** Starts a server in its own process, whose CPU time can be measured. */
async function startServer (t: Test) {
  const { address, ask } = await startUploadServer(t)
  const upload = async (body: Buffer) => {
    t.ok(body.length <= UPLOAD_BODY_LIMIT, 'the body is not larger than an upload may be')
    const headers = { 'content-type': 'multipart/form-data; boundary=f' }
    return await postThenRead(Number(new URL(address).port), { path: '/', headers, body })
  }
  return { address, readCpuMs: async () => await ask('cpu'), upload }
}

t.test('a form costs what its file costs, however many parts it has, and others are served meanwhile', async (t) => {
  const { address, readCpuMs, upload } = await startServer(t)
  const part = (headers: string, content = '') => `--f\r\n${headers}\r\n\r\n${content}\r\n`
  const form = (...parts: (string | Buffer)[]) =>
    Buffer.concat([...parts.map((each) => Buffer.from(each)), Buffer.from('--f--\r\n')])
  const picture = Buffer.concat([
    Buffer.from('--f\r\ncontent-disposition: form-data; name="file"; filename="a"\r\ncontent-type: image/png\r\n\r\n'),
    // Takes long enough to decode that a parser could go through everything that follows.
    await sharp({ create: { width: 4_000, height: 4_000, channels: 3, background: '#2a6' } }).png().toBuffer(),
    Buffer.from('\r\n')
  ])
  const emptyParts = part('content-disposition: form-data; name="f"').repeat(60_000)
  const fileParts = part('content-disposition: form-data; name="f"; filename=a').repeat(80_000)
  const tinyParts = '--f\r\n\r\nx\r\n'.repeat(400_000)

  const measure = async (body: Buffer) => {
    const before = await readCpuMs()
    const answering = upload(body)
    for (let i = 0; i < 20; i++) t.equal((await fetch(address)).status, 200)
    const { status, isComplete } = await answering
    t.ok(isComplete)
    return { status, cpuMs: await readCpuMs() - before }
  }
  // The first image loads the decoder.
  t.equal((await measure(form(picture))).status, 200)
  const plain = await measure(form(picture))
  t.comment(`the picture alone: ${plain.cpuMs.toFixed()} ms`)

  for (
    const [name, body, status, costMs] of [
      ['60,000 empty parts', form(emptyParts), 413, 0],
      ['80,000 files', form(fileParts), 400, 0],
      ['400,000 tiny parts', form(tinyParts), 413, 0],
      ['60,000 empty parts after the picture', form(picture, emptyParts), 200, plain.cpuMs],
      ['80,000 files after the picture', form(picture, fileParts), 200, plain.cpuMs],
      ['400,000 tiny parts after the picture', form(picture, tinyParts), 200, plain.cpuMs]
    ] as const
  ) {
    const result = await measure(body)
    t.equal(result.status, status, name)
    t.ok(result.cpuMs < costMs + 300, `${name}: ${result.cpuMs.toFixed()} ms`)
  }
})
