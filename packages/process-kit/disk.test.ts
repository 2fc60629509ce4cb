import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { createDiskLimit } from './disk.ts'
import { Unavailable } from './errors.ts'

t.test('uploads share a limit of bytes, whatever their number, until their files are removed', async (t) => {
  const beginUpload = createDiskLimit()
  const save = async (upload: ReturnType<typeof beginUpload>, bytes: number) =>
    (await buffer(Readable.from(upload.count(Readable.from([Buffer.alloc(bytes - 1), Buffer.alloc(1)]))))).length
  const small = Array.from({ length: 50 }, () => beginUpload(100))
  for (const upload of small) t.equal(await save(upload, 1), 1)
  const long = beginUpload(100)
  t.equal(await save(long, 50), 50)
  const refused = beginUpload(100)
  await t.rejects(save(refused, 10), Unavailable)

  refused.free()
  long.free()
  long.free()
  const next = beginUpload(100)
  t.equal(await save(next, 50), 50, 'the fifty small ones still count, and nothing counts twice')
  await t.rejects(save(next, 2), Unavailable)
})
