import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'

const sdkFolder = path.resolve(import.meta.dirname, '../../packages/sdk-typescript')

/** The JavaScript modules of the SDK, for the pages of a development server: `index.js`, `generated/sdk.gen.js`. */
export const listSdkModules = () =>
  globSync(['*.ts', 'generated/**/*.ts'], { cwd: sdkFolder, exclude: ['*.test.ts'] })
    .map((file) => file.replace(/\.ts$/, '.js'))

/** A module of `listSdkModules`. Types are replaced by spaces, so the lines and columns of errors are those of the source. */
export function readSdkModule (name: string): string {
  const source = readFileSync(path.join(sdkFolder, name.replace(/\.js$/, '.ts')), 'utf8')
  return stripTypeScriptTypes(source).replaceAll(/(?<=from ')(\.[^']*)\.ts(?=')/g, '$1.js')
}
