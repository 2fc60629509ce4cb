import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { fromBufferPromise } from 'yauzl'
import { zip, type Entry, type File } from './zip.ts'

async function listed (files: AsyncIterable<File>, entries: Entry[] = []) {
  const archive = await fromBufferPromise(await buffer(zip(files, entries)))
  const contents = new Map<string, string>()
  for await (const entry of archive.eachEntry()) {
    contents.set(entry.fileName, (await buffer(await archive.openReadStreamPromise(entry))).toString())
  }
  return contents
}

t.test('files are read as they were written, stored or compressed', async (t) => {
  const entries: Entry[] = []
  const long = 'x'.repeat(300_000)
  const contents = await listed(
    (async function* () {
      yield { path: 'social/posts.json', content: [Buffer.from('[\n'), Buffer.from(long), Buffer.from(']')] }
      t.match(entries, [{ path: 'social/posts.json', bytes: 300_003 }], 'known before the next file')
      yield { path: 'media/é.webp', content: [Buffer.from('an image')], isStored: true }
      yield { path: 'empty.json', content: [] }
    })(),
    entries
  )
  t.same([...contents], [['social/posts.json', `[\n${long}]`], ['media/é.webp', 'an image'], ['empty.json', '']])
  t.match(entries[1], {
    bytes: 8,
    sha256: 'a5df3fde7b200c3fa2791144c7e05c5c2bced4c6ad863d3a4cf76c972c1712f9'
  })
})

t.test('a file that fails ends the zip with its error', async (t) => {
  for (const isStored of [true, false]) {
    const files = async function* () {
      yield {
        path: 'broken.json',
        isStored,
        content: (async function* () {
          yield Buffer.from('[')
          throw new Error('the page is missing')
        })()
      }
    }
    await t.rejects(listed(files()), { message: 'the page is missing' })
  }
})
