import { createHash } from 'node:crypto'
import type { PersonalDataPage } from '@tandem/contracts'
import type { Storage } from '@tandem/media-kit'

/** Reads a page of what a service holds of a person. */
export type ReadPage = (page: { accountId: string, after: string | null }) => Promise<PersonalDataPage>

/** The folder of an export in private storage. */
export const folderOf = (exportId: string) => `exports/${exportId}/`

export interface Source {
  storage: Storage
  exportId: string
  service: string
}

// A page is named by the cursor that it starts at. Two workers at once can only write the same pages, and one that goes
// on after a crash follows the cursors from the first page.
const keyOf = ({ exportId, service }: Source, after: string | null) =>
  `${folderOf(exportId)}pages/${service}/${createHash('sha256').update(after ?? '').digest('hex')}.json`

/** Stores the pages of a service that are not stored yet. `onPage` is called after each. */
export async function collectPages (
  source: Source,
  accountId: string,
  { readPage, onPage }: { readPage: ReadPage, onPage: () => Promise<unknown> }
) {
  const encode = createEncoder()
  for (let after: string | null = null;;) {
    const stored = await findPage(source, after)
    const page: PersonalDataPage = stored ?? await readPage({ accountId, after })
    if (!stored) {
      await source.storage.put(keyOf(source, after), encode(JSON.stringify(page)), 'application/json')
    }
    await onPage()
    if (page.next === null) return
    after = page.next
  }
}

/**
 * Encodes texts into one buffer, which the next call overwrites. With a buffer for each page, tens of megabytes of them
 * wait for the garbage collector.
 */
function createEncoder () {
  let buffer = Buffer.alloc(0)
  return (text: string) => {
    const bytes = Buffer.byteLength(text)
    if (bytes > buffer.length) buffer = Buffer.allocUnsafe(bytes)
    return buffer.subarray(0, buffer.write(text))
  }
}

/** The stored pages of a service, in their order. @throws if one is missing */
export async function* readPages (source: Source) {
  for (let after: string | null = null;;) {
    const page: PersonalDataPage | undefined = await findPage(source, after)
    if (!page) throw new Error(`a page of ${source.service} is missing`)
    yield page
    if (page.next === null) return
    after = page.next
  }
}

async function findPage (source: Source, after: string | null) {
  const bytes = await source.storage.find(keyOf(source, after))
  return bytes && JSON.parse(bytes.toString()) as PersonalDataPage
}
