import type { Readable } from 'node:stream'
import { isMediaKey } from '@tandem/media-url-kit'
import type { Storage } from '@tandem/media-kit'
import { renderIndex, type Counts } from './index-page.ts'
import { folderOf, readPages, type Source } from './pages.ts'
import { measure, zip, type Entry, type File } from './zip.ts'

export const archiveKeyOf = (exportId: string) => `${folderOf(exportId)}archive.zip`

interface Options {
  storage: Storage
  /** Reads an uploaded file; undefined if it does not exist. */
  readFile: (key: string) => Promise<Readable | undefined>
  exportId: string
  services: readonly string[]
  locale: string
  /** Called at least every few seconds, with the part of the uploaded files that is done. */
  onProgress: (part: number) => Promise<unknown>
}

/**
 * Makes one zip of the collected pages and of the uploaded files that they name. It is streamed into storage: however
 * long it becomes, memory holds one page and a few chunks. @returns its length and digest
 */
export async function writeArchive (options: Options) {
  let failure: unknown
  const entries: Entry[] = []
  const archive = measure(zip(
    (async function* () {
      try {
        yield* listFiles(options, entries)
      } catch (error) {
        failure = error
        throw error
      }
    })(),
    entries
  ))
  try {
    await options.storage.putStream(archiveKeyOf(options.exportId), archive.chunks, 'application/zip')
  } catch (error) {
    // A store reports that it is unavailable, whatever failed.
    throw failure ?? error
  }
  return { bytes: archive.length(), sha256: archive.digest() }
}

/** The files of the archive, of which `entries` has those that are written. */
async function* listFiles (
  { storage, readFile, exportId, services, locale, onProgress }: Options,
  entries: Entry[]
): AsyncGenerator<File> {
  const counts: Counts = {}
  const files = new Set<string>()
  for (const service of services) {
    const things = readThings({ storage, exportId, service }, (key) => files.add(key))
    const rows: Record<string, number> = counts[service] = {}
    await things.advance()
    for (let name = things.current()?.name; name !== undefined; name = things.current()?.name) {
      const thing = name
      yield {
        path: `${service}/${thing}.json`,
        content: jsonOf(things, thing, async (count) => {
          rows[thing] = (rows[thing] ?? 0) + count
          await onProgress(0)
        })
      }
    }
  }
  const images: string[] = []
  const missing: string[] = []
  for (const key of files) {
    await onProgress((images.length + missing.length) / files.size)
    const content = await readFile(key)
    if (content) yield { path: pathOf(key), content, isStored: true }
    const found = content ? images : missing
    found.push(pathOf(key))
  }
  yield { path: 'index.html', content: [Buffer.from(renderIndex({ counts, images, locale }))] }
  const manifest = { createdAt: new Date().toISOString(), rows: counts, files: entries, missing }
  yield { path: 'manifest.json', content: [Buffer.from(JSON.stringify(manifest, null, 2))] }
}

/** Goes through the rows of a service's pages, in which those of one thing follow each other. */
function readThings (source: Source, onFile: (key: string) => unknown) {
  const things = (async function* () {
    for await (const page of readPages(source)) yield* page.things
  })()
  let current: { name: string, rows: object[] } | undefined
  return {
    current: () => current,
    async advance () {
      const { value, done } = await things.next()
      current = done ? undefined : value
      if (!done) value.files.filter(isFileKey).forEach(onFile)
    }
  }
}

/** The rows of one thing as the text of a JSON array. */
async function* jsonOf (
  things: ReturnType<typeof readThings>,
  name: string,
  onRows: (count: number) => Promise<unknown>
) {
  let separator = '[\n'
  for (let chunk = things.current(); chunk?.name === name; chunk = things.current()) {
    yield Buffer.from(separator + chunk.rows.map((row) => JSON.stringify(row)).join(',\n'))
    await onRows(chunk.rows.length)
    separator = ',\n'
    await things.advance()
  }
  yield Buffer.from('\n]\n')
}

// A row can also name an image of another host. Other keys never become paths of the archive.
const isFileKey = (key: string) => isMediaKey(key) || /^selfies\/[\w-]+\/[\w-]+\.webp$/.test(key)
const pathOf = (key: string) => `media/${key}`
