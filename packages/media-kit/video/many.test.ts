import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createLongVideo } from './long-video.ts'
import { readMemory, startUploadServer } from '../testing.ts'

const MEBIBYTE = 1024 * 1024

t.test('six videos of 40 MB at once take little memory, whatever their length', async (t) => {
  const { address, pid, folder } = await startUploadServer(t)
  const file = path.join(folder, 'long.mp4')
  await createLongVideo(file, { seconds: 50, bytesPerSecond: 800_000 })
  const { size } = await stat(file)
  t.ok(size > 38 * MEBIBYTE, `${size} bytes`)

  const upload = async () => {
    const [head, tail] = [
      '--f\r\ncontent-disposition: form-data; name="file"; filename="a"\r\ncontent-type: video/mp4\r\n\r\n',
      '\r\n--f--\r\n'
    ]
    const body = Readable.from((async function* () {
      yield Buffer.from(head)
      yield* createReadStream(file)
      yield Buffer.from(tail)
    })())
    const response = await fetch(`${address}/video`, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=f' },
      body: Readable.toWeb(body) as ReadableStream,
      duplex: 'half'
    })
    return { status: response.status, text: await response.text() }
  }
  t.match(await upload(), { status: 200 })
  const before = await readMemory(pid)
  let [own, all] = [0, 0]
  const uploads = Promise.all(Array.from({ length: 6 }, upload))
  let isRunning = true
  const watching = (async () => {
    while (isRunning) {
      const now = await readMemory(pid)
      own = Math.max(own, now.own)
      all = Math.max(all, now.all)
      await sleep(50)
    }
  })()
  const answers = await uploads
  isRunning = false
  await watching
  t.same(answers.filter(({ status }) => status !== 200), [])
  const growth = { own: Math.round((own - before.own) / MEBIBYTE), all: Math.round((all - before.all) / MEBIBYTE) }
  t.comment(`+${growth.own} MiB, with the processes that it starts +${growth.all} MiB`)
  t.ok(growth.own < 100, `+${growth.own} MiB`)
  t.ok(growth.all < 300, `+${growth.all} MiB with the processes that it starts`)
})
