import { readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const PLACE = /file:\/\/[^\s()]+\.mjs:\d+:\d+/g

// There are only so many places in the code, and the same errors repeat.
const sources = new Map<string, string>()

/**
 * A stack with the places in the sources in place of those in a bundle. Node's --enable-source-maps keeps 50 to 75 MB
 * for this from the start on; here a map is read with the first error, and not kept.
 */
export function showSources (stack: string | undefined): string | undefined {
  const unknown = (stack?.match(PLACE) ?? []).filter((place) => !sources.has(place))
  const maps = new Map([...new Set(unknown.map(fileOf))].map((file) => [file, readMap(file)]))
  for (const place of unknown) sources.set(place, sourceOf(place, maps.get(fileOf(place))))
  return stack?.replace(PLACE, (place) => sources.get(place) ?? place)
}

const fileOf = (place: string) => place.replace(/:\d+:\d+$/, '')

function readMap (file: string) {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(file)}.map`, 'utf8')) as SourceMapPayload)
  } catch {
    return undefined
  }
}

function sourceOf (place: string, map: SourceMap | undefined) {
  const [line, column] = place.split(':').slice(-2).map(Number)
  const origin = map?.findOrigin(line ?? 0, column ?? 0)
  if (!origin || !('fileName' in origin)) return place
  return `${
    path.resolve(path.dirname(fileURLToPath(fileOf(place))), origin.fileName)
  }:${origin.lineNumber}:${origin.columnNumber}`
}
