import { defineError } from '@tandem/process-kit'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { NotFound } from '@tandem/http-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'

export const RangeNotSatisfiable = defineError('RANGE_NOT_SATISFIABLE.pagesRangeNotSatisfiable', 416)

interface Range {
  start: number
  end: number
}

/**
 * Sends a video, or the one part of it that the client asks for: players read the beginning, and jump. Its name is a
 * strong validator, because a stored file never changes. Several ranges at once, which no player asks for, are refused.
 * @throws NotFound, RangeNotSatisfiable
 */
export async function sendVideo (request: FastifyRequest, reply: FastifyReply, file: string) {
  const handle = await open(file).catch(() => {
    throw new NotFound()
  })
  let isStreamed = false
  try {
    const { size, mtime } = await handle.stat()
    const etag = `"${path.basename(file, '.mp4')}"`
    reply.headers({
      'accept-ranges': 'bytes',
      etag,
      'last-modified': mtime.toUTCString(),
      'content-type': 'video/mp4',
      'content-disposition': 'inline'
    })
    const { 'if-none-match': known, 'if-range': expected } = request.headers
    if (known !== undefined && isListed(etag, known)) return await reply.code(304).send()

    const wanted = expected === undefined || expected === etag ? request.headers.range : undefined
    const range = wanted === undefined ? undefined : parseRange(wanted, size)
    if (range === 'unsatisfiable') {
      reply.removeHeader('etag').removeHeader('last-modified').header('cache-control', 'no-store')
      reply.header('content-range', `bytes */${size}`)
      throw new RangeNotSatisfiable()
    }
    const { start, end } = range ?? { start: 0, end: size - 1 }
    if (range) reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`)
    reply.header('content-length', end - start + 1)
    if (request.method === 'HEAD') return await reply.send(Readable.from([]))
    isStreamed = true
    return await reply.send(handle.createReadStream({ start, end }))
  } finally {
    // A stream closes it.
    if (!isStreamed) await handle.close()
  }
}

const isListed = (etag: string, list: string) =>
  list.split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()))

/** The range of a header; undefined if the header is not about bytes, and the whole file is sent. */
function parseRange (header: string, size: number): Range | 'unsatisfiable' | undefined {
  if (!/^bytes=/i.test(header)) return
  // Without spaces first: a pattern that allows them around each number takes seconds for thousands of them.
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/i.exec(header.replaceAll(/\s/g, '')) ?? []
  if (first === '' && last === '') return 'unsatisfiable'
  // The last bytes, if there is only an end.
  const range = first === ''
    ? { start: Math.max(0, size - Number(last)), end: size - 1 }
    : { start: Number(first), end: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
  return range.start > range.end || range.start >= size ? 'unsatisfiable' : range
}
