import { readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const PLACE = /(file:\/\/[^\s()]+\.mjs):(\d+):(\d+)/g

// Of the bundles with an error so far. Errors come together, and to decode a map blocks the process.
const maps = new Map<string, SourceMap | undefined>()

/**
 * A stack with the places in the sources in place of those in a bundle. Of a package from the registry it names the file
 * only. Node's --enable-source-maps keeps 50 to 75 MB for this from the start on; here a map is read with the first error.
 */
export function showSources (stack: string | undefined): string | undefined {
  return stack?.replace(PLACE, (place, file: string, line: string, column: string) => {
    if (!maps.has(file)) maps.set(file, readMap(file))
    const entry = maps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1)
    // What the bundler adds has no source.
    if (!entry || !('originalSource' in entry) || !entry.originalSource) return place
    const source = path.resolve(path.dirname(fileURLToPath(file)), entry.originalSource)
    // The maps of bundles have no lines of packages.
    if (source.includes('/node_modules/')) return source
    return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
  })
}

function readMap (file: string) {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(file)}.map`, 'utf8')) as SourceMapPayload)
  } catch {
    return undefined
  }
}
