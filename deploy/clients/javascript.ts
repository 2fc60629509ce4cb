import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'

const sdkFolder = path.resolve(import.meta.dirname, '../../packages/sdk-typescript')

/**
 * The SDK as JavaScript modules, each by its file name such as `index.js`: for the pages of a
 * development server. Types are replaced by spaces, so the lines and columns of errors are those of the source.
 */
export function readSdkModules (): Map<string, string> {
  const files = readdirSync(sdkFolder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !/^(?:node_modules|dist)\//.test(file))
  return new Map(files.map((file) => {
    const source = stripTypeScriptTypes(readFileSync(path.join(sdkFolder, file), 'utf8'))
    return [file.replace(/\.ts$/, '.js'), source.replaceAll(/(?<=from ')(\.[^']*)\.ts(?=')/g, '$1.js')]
  }))
}
