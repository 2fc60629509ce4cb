import { readFileSync } from 'node:fs'
import path from 'node:path'
import { findBase, readFileOf } from '@tandem/local-servers/git.ts'
import type { OpenapiDocument } from '../../gateway/pages/join-documents.ts'
import { serviceNames, serviceOf } from '../../gateway/routes.ts'
import { publishedFile, type Published } from './messages.ts'
import { documentFile } from './openapi.ts'
import { readRelease } from './records.ts'

interface Part<Content> {
  content: Content
  /** Whether `content` says what this process published: the gateway, or a service. */
  isOf: (name: string) => boolean
}

/**
 * A committed file as it was published: that of the last release of each process, and for one that was never released
 * that of the commit where the work tree left origin/main. So a draft, which is in neither, can still be changed.
 * Without git, as in an archive, it is the file itself.
 */
function readParts<Content> (root: string, file: string): Part<Content>[] {
  const releases = ['gateway', ...serviceNames].flatMap((name) => readRelease(root, name) ?? [])
  const base = findBase(root)
  const text = base ? readFileOf(root, base, file) : readFileSync(path.join(root, file), 'utf8')
  return [
    ...releases.map(({ name, commit }) => ({
      content: JSON.parse(readFileOf(root, commit, file)) as Content,
      isOf: (each: string) => each === name
    })),
    {
      content: JSON.parse(text) as Content,
      isOf: (each: string) => !releases.some(({ name }) => name === each)
    }
  ]
}

/** The events and RPCs that were published. */
export const readPublished = (root: string): Published =>
  Object.assign(
    {},
    ...readParts<Published>(root, publishedFile).map(({ content, isOf }) => ownedMessages(content, isOf))
  )

/** The API that was published: a document for each release, with the paths of that process only. */
export const readPublishedDocuments = (root: string): OpenapiDocument[] =>
  readParts<OpenapiDocument>(root, documentFile).map(({ content, isOf }) => ownedPaths(content, isOf))

const ownedMessages = (published: Published, isOf: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(published).filter(([type]) => isOf(ownerOf(type))))

export const ownedPaths = (document: OpenapiDocument, isOf: (name: string) => boolean): OpenapiDocument => ({
  ...document,
  paths: Object.fromEntries(
    Object.entries(document.paths ?? {}).filter(([path]) => isOf(serviceOf(path) ?? 'gateway'))
  )
})

/** The service that publishes an event, or provides an RPC. */
export const ownerOf = (type: string) => type.split('.')[0] ?? ''
