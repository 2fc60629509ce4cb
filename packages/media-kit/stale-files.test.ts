import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { until } from '@tandem/test-kit'
import Fastify from 'fastify'
import t from 'tap'
import { removeStaleFiles } from './stale-files.ts'
import { diskStorage } from './disk-storage.ts'
import { multipartUploads } from './uploads.ts'

const folder = await mkdtemp(path.join(tmpdir(), 'tandem-leftovers-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))

async function put (name: string, minutes: number) {
  const file = path.join(folder, name)
  await writeFile(file, 'half a pict')
  const then = Date.now() / 1_000 - minutes * 60
  await utimes(file, then, then)
}

t.test('files of a killed process are deleted; files being written and foreign files stay', async (t) => {
  await Promise.all([put('tandem-upload-old', 11), put('tandem-upload-new', 9), put('other-old', 11)])
  await Promise.all([removeStaleFiles(folder, 'tandem-upload-'), removeStaleFiles(folder, 'tandem-upload-')])
  t.same((await readdir(folder)).sort(), ['other-old', 'tandem-upload-new'])
})

t.test('a process that takes uploads deletes stale files at startup', async (t) => {
  await put('tandem-upload-older', 60)
  process.env['TMPDIR'] = folder
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(multipartUploads)
  await app.ready()
  await until(async () => !(await readdir(folder)).includes('tandem-upload-older'))
  t.same((await readdir(folder)).sort(), ['other-old', 'tandem-upload-new'])
})

t.test('disk storage deletes unfinished files and only those', async (t) => {
  await mkdir(path.join(folder, '.unfinished'))
  await put('.unfinished/half', 60)
  await put('a.webp', 60)
  const storage = diskStorage(folder)
  await storage.put('b.webp', Buffer.from('a picture'), 'image/webp')
  await until(async () => (await readdir(path.join(folder, '.unfinished'))).length === 0)
  t.same((await readdir(folder)).filter((name) => name.endsWith('.webp')), ['a.webp', 'b.webp'])
})
