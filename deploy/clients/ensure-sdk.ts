// Generates the code of the SDK if what it is generated from has changed. Scripts of package.json that use it begin with it.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const root = path.resolve(import.meta.dirname, '../..')
const sdkFolder = path.join(root, 'packages/sdk-typescript')
const generatedFolder = path.join(sdkFolder, 'generated')
const stampFile = path.join(generatedFolder, 'stamp')
const lockFile = path.join(import.meta.dirname, 'node_modules/.cache/sdk-lock')
const LOCK_TIMEOUT_MS = 60_000
const sources = [
  'gateway/openapi.json',
  'packages/contracts/realtime.ts',
  'packages/contracts/schemas.ts',
  'deploy/clients/frames.ts',
  'deploy/clients/generate.ts',
  'deploy/clients/node_modules/@hey-api/openapi-ts/package.json'
]

const hash = createHash('sha256')
for (const file of sources) hash.update(readFileSync(path.join(root, file)))
const stamp = hash.digest('hex')
const isCurrent = () => existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp
if (!isCurrent()) await generateOnce()

/** Of several scripts that begin at once, one generates it and the others wait. */
async function generateOnce () {
  mkdirSync(path.dirname(lockFile), { recursive: true })
  // The lock of a database ends with its process, however that ends.
  const lock = new DatabaseSync(lockFile, { timeout: LOCK_TIMEOUT_MS })
  lock.exec('begin exclusive')
  if (!isCurrent()) await generate()
  lock.close()
}

async function generate () {
  // The generator takes a second to load.
  const { generateSdk } = await import('./generate.ts')
  // Beside the old folder, so that it is replaced at once: a program that uses it may be running.
  const folder = mkdtempSync(path.join(sdkFolder, 'generated-'))
  try {
    for (const [name, content] of [...await generateSdk(), ['stamp', stamp] as const]) {
      const file = path.join(folder, name)
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, content)
    }
    rmSync(generatedFolder, { recursive: true, force: true })
    renameSync(folder, generatedFolder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
