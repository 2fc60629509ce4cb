// Writes the generated code of the SDK, as a part of `npm run contracts`.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { screen } from '@tandem/local-servers/screen.ts'
import { generatedFolder, generateSdk } from './generate.ts'

export async function writeSdk () {
  const files = await generateSdk()
  rmSync(generatedFolder, { recursive: true, force: true })
  for (const [name, content] of files) {
    const file = path.join(generatedFolder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
  screen.done('wrote packages/sdk-typescript/generated')
}
