import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { data } from '@tandem/service-kit'

/**
 * Keeps answers as they are sent, for as long as one edition of the places is loaded: to read and write out 17,000 cities holds a
 * process up for as long as dozens of other requests. Of many who ask at once one makes the answer. Nothing is ever dropped, so keys
 * must be few: a country's. All countries with all their cities come to 16 MB, and compressed to another 2.
 */
export function createAnswerCache () {
  const answers = new Map<string, Promise<Buffer>>()
  let keptOf: string | undefined

  return async (edition: string, key: string, list: () => Promise<object[]>) => {
    if (edition !== keptOf) answers.clear()
    keptOf = edition
    const kept = answers.get(key)
    if (kept) return await kept

    const answer = list().then(serializePlaces)
    answers.set(key, answer)
    answer.catch(() => answers.delete(key))
    return await answer
  }
}

export const serializePlaces = (places: object[]) => Buffer.from(JSON.stringify(data(places)))

const compress = promisify(gzip)
const compressed = new WeakMap<Buffer, Promise<Buffer>>()

/** `answer` by gzip, an eighth of it. It is made once, and kept for as long as `answer` is. */
export async function gzipped (answer: Buffer) {
  const made = compressed.get(answer) ?? compress(answer)
  compressed.set(answer, made)
  return await made
}
