import { VideoProblem } from './problems.ts'

const SEI = 6
const USER_DATA_UNREGISTERED = 5

/**
 * The units of an H.264 sample, without what an encoder added in words of its own: cameras write their settings there,
 * and could write the place.
 * @param lengthBytes how many bytes hold the length of a unit
 * @throws VideoProblem if the units do not fill the sample
 */
export function dropUserData (sample: Uint8Array, lengthBytes: number): Uint8Array {
  const bytes = Buffer.from(sample.buffer, sample.byteOffset, sample.byteLength)
  const kept: Buffer[] = []
  for (let position = 0; position < bytes.length;) {
    const start = position + lengthBytes
    const end = start > bytes.length ? Infinity : start + bytes.readUIntBE(position, lengthBytes)
    if (end > bytes.length || end === start) throw new VideoProblem('CorruptVideo')
    const isUserData = (bytes[start]! & 0x1f) === SEI && bytes[start + 1] === USER_DATA_UNREGISTERED
    if (!isUserData) kept.push(bytes.subarray(position, end))
    position = end
  }
  if (kept.length === 0) throw new VideoProblem('CorruptVideo')
  return Buffer.concat(kept)
}
