import { readFileSync } from 'node:fs'
import path from 'node:path'
import { readMessaging } from '@tandem/nats/messaging.ts'
import { readPublished, readPublishedDocuments } from './baseline.ts'
import { compareContracts, printContracts, publishedFile, readContracts } from './messages.ts'
import {
  compareDocuments,
  documentFile,
  joinPublic,
  listNameConflicts,
  listUnreachable,
  readDocuments
} from './openapi.ts'
import { print } from './print.ts'

interface Check {
  /** The committed file that holds what the code publishes. */
  file: string
  /** A sentence for each change that breaks others. */
  problems: string[]
  isUpToDate: boolean
  /** What the file holds when it is up to date. */
  content: string
}

/** Compares the events and RPCs of the code with the published ones. */
export async function checkContracts (root: string): Promise<Check> {
  const committed = readFileSync(path.join(root, publishedFile), 'utf8')
  const current = await readContracts()
  const content = printContracts(current)
  const problems = compareContracts(readPublished(root), current, readMessaging(root))
  return { file: publishedFile, problems, isUpToDate: committed === content, content }
}

/** Compares the API of the code with the published one. */
export async function checkDocument (root: string): Promise<Check> {
  const committed = readFileSync(path.join(root, documentFile), 'utf8')
  const parts = await readDocuments(root)
  const document = joinPublic(parts)
  const content = print(document)
  const problems = [
    ...listUnreachable(parts),
    ...listNameConflicts(parts),
    ...readPublishedDocuments(root).flatMap((published) => compareDocuments(published, document))
  ]
  return { file: documentFile, problems, isUpToDate: committed === content, content }
}
