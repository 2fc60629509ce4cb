import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { data } from '@tandem/http-kit'

/**
 * Caches serialized responses while one edition of the places is loaded: reading and serializing 17,000 cities blocks a
 * process for as long as dozens of other requests. Concurrent requests share one computation. There is no eviction, so
 * there must be few keys: one or two per country. All countries with all their cities take 16 MB, and 2 MB more
 * compressed.
 */
export function createResponseCache () {
  const responses = new Map<string, Promise<Buffer>>()
  let cachedEdition: string | undefined

  return async (edition: string, key: string, list: () => Promise<object[]>) => {
    if (edition !== cachedEdition) responses.clear()
    cachedEdition = edition
    const cached = responses.get(key)
    if (cached) return await cached

    const response = list().then(serializePlaces)
    responses.set(key, response)
    response.catch(() => responses.delete(key))
    return await response
  }
}

export const serializePlaces = (places: object[]) => Buffer.from(JSON.stringify(data(places)))

const compress = promisify(gzip)
const compressed = new WeakMap<Buffer, Promise<Buffer>>()

/** The gzipped `response`, about an eighth of its size. It is computed once and cached as long as `response`. */
export async function gzipOnce (response: Buffer) {
  const result = compressed.get(response) ?? compress(response)
  compressed.set(response, result)
  return await result
}
