import type { ByteRange } from '@tandem/media-kit'

/**
 * The part of a file that a Range header asks for. Undefined stands for the whole file: without a header, and for units
 * and lists of ranges, which a server may ignore. 'UNSATISFIABLE' is a range beyond the end.
 */
export function parseRange (header: string | undefined, bytes: number): ByteRange | 'UNSATISFIABLE' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return
  // `-500` are the last 500 bytes.
  const start = first === '' ? Math.max(0, bytes - Number(last)) : Number(first)
  const end = first === '' || last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1)
  if (first !== '' && last !== '' && Number(last) < start) return
  return start < bytes && start <= end ? { start, end } : 'UNSATISFIABLE'
}
