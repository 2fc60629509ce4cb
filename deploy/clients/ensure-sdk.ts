// Generates the code of the SDK if what it is generated from has changed. Every script of package.json begins with it.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../..')
const sdkFolder = path.join(root, 'packages/sdk-typescript')
const generatedFolder = path.join(sdkFolder, 'generated')
const stampFile = path.join(generatedFolder, 'stamp')
const sources = [
  'gateway/openapi.json',
  'packages/contracts/realtime.ts',
  'deploy/clients/frames.ts',
  'deploy/clients/generate.ts',
  'deploy/clients/node_modules/@hey-api/openapi-ts/package.json'
]

const hash = createHash('sha256')
for (const file of sources) hash.update(readFileSync(path.join(root, file)))
const stamp = hash.digest('hex')
if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp) await generate()

async function generate () {
  // The generator takes a second to load.
  const { generateSdk } = await import('./generate.ts')
  // Beside the old folder, so that it is replaced at once: another script may be running.
  const folder = mkdtempSync(path.join(sdkFolder, 'generated-'))
  for (const [name, content] of [...await generateSdk(), ['stamp', stamp] as const]) {
    const file = path.join(folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
  rmSync(generatedFolder, { recursive: true, force: true })
  renameSync(folder, generatedFolder)
}
