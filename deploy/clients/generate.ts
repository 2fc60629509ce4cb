import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createClient } from '@hey-api/openapi-ts'
import { describeFrames } from './frames.ts'

const root = path.resolve(import.meta.dirname, '../..')
const documentFile = path.join(root, 'gateway/openapi.json')

interface Operation {
  parameters?: { name?: string, in?: string }[]
}

/** Generates the code of the SDK from the recorded API document. @returns each file's content by its name */
export async function generateSdk (): Promise<Map<string, string>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tandem-sdk-'))
  try {
    await createClient({
      input: readOperations(),
      output: { path: folder, entryFile: false, importFileExtension: '.ts' },
      logs: { level: 'silent', file: false },
      plugins: [
        { name: '@hey-api/typescript' },
        { name: '@hey-api/client-fetch', throwOnError: true },
        { name: '@hey-api/sdk', operations: { strategy: 'single', containerName: 'Operations' }, responseStyle: 'data' }
      ]
    })
    const files = readFolder(folder)
    files.set('operations.gen.ts', describeOperations())
    files.set('frames.gen.ts', describeFrames())
    return files
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Each file below a folder: its content by its name. */
const readFolder = (folder: string) =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile()).map((each) => {
      const file = path.join(each.parentPath, each.name)
      // The type is in the DOM library only, which Node and React Native do not have.
      return [
        path.relative(folder, file),
        readFileSync(file, 'utf8').replaceAll(/\bBodyInit\b/g, "RequestInit['body']")
      ]
    })
  )

/** The recorded document without the realtime connection, which is no request: the SDK opens it in realtime.ts. */
function readOperations () {
  const document = JSON.parse(readFileSync(documentFile, 'utf8')) as { paths: Record<string, unknown> }
  delete document.paths['/realtime']
  return document as Record<string, unknown>
}

/** What the client knows of operations: which it can repeat. */
function describeOperations () {
  const { info, paths } = JSON.parse(readFileSync(documentFile, 'utf8')) as {
    info: { version: string },
    paths: Record<string, Record<string, Operation>>
  }
  const operations = Object.entries(paths).flatMap(([url, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, url, method: method.toUpperCase() }))
  )
  const repeatable = operations.filter(({ parameters = [] }) =>
    parameters.some((each) => each.in === 'header' && each.name?.toLowerCase() === 'idempotency-key')
  )
  const setOf = (values: string[]) => `new Set(${JSON.stringify(values, undefined, 2)})`
  return `/** The version of the API that this code is generated from. */
export const apiVersion = ${JSON.stringify(info.version)}

/** The operations that accept an Idempotency-Key. */
export const repeatable: ReadonlySet<string> = ${setOf(repeatable.map(({ method, url }) => `${method} ${url}`))}
`
}
