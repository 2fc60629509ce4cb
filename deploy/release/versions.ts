import type { OpenapiDocument } from '../../gateway/pages/join-documents.ts'
import { servicePrefixes } from '../../gateway/routes.ts'
import { readFileOf } from '@tandem/local-servers/git.ts'
import { readMessaging } from '@tandem/nats/messaging.ts'
import { ownedPaths } from '../contracts/baseline.ts'
import { publishedFile, readContracts, type Published } from '../contracts/messages.ts'
import { documentFile, joinPublic, readDocuments } from '../contracts/openapi.ts'
import type { Release } from '../contracts/records.ts'
import type { Version } from './neighbours.ts'

/** The versions of `names` that the work tree would release. */
export async function readWorkTree (root: string, names: string[], version: string): Promise<Version[]> {
  const published: Published = await readContracts()
  const messaging = readMessaging(root)
  const document = joinPublic(await readDocuments(root))
  return names.map((name) => {
    const { consumes = [], calls = [], provides = [] } = messaging.find(({ service }) => service === name) ?? {}
    const types = (definitions: { type: string }[]) => definitions.map(({ type }) => type).sort()
    return {
      name,
      version,
      consumes: types(consumes),
      calls: types(calls),
      provides: types(provides),
      ...(name === 'gateway' && { prefixes: servicePrefixes }),
      published,
      paths: listPaths(document, name)
    }
  })
}

/** A version that was released, from its record and its commit. */
export function readReleased (root: string, release: Release): Version {
  const read = <Content>(file: string) => JSON.parse(readFileOf(root, release.commit, file)) as Content
  return {
    ...release,
    published: read<Published>(publishedFile),
    paths: listPaths(read<OpenapiDocument>(documentFile), release.name)
  }
}

const listPaths = (document: OpenapiDocument, name: string) =>
  name === 'gateway' ? [] : Object.keys(ownedPaths(document, (owner) => owner === name).paths ?? {})
