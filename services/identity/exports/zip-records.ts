// The records of a zip, as PKWARE's APPNOTE.TXT 6.3 describes them.

interface LocalHeader {
  name: Buffer
  isCompressed: boolean
  /** In the format of MS-DOS. */
  modifiedAt: number
  /** Where this header begins. */
  offset: number
}

interface ZipEntry extends LocalHeader {
  crc: number
  bytes: number
  compressedBytes: number
}

// Its length and checksum follow the content, and its name is UTF-8.
const FLAGS = 0x0808
const DEFLATED = 8
const VERSION = 20
// Since version 4.5, numbers of 64 bits can stand beside those of 32 and 16, which are then all ones.
const VERSION_OF_ZIP64 = 45
const MADE_ON_UNIX = 0x0300
const REGULAR_FILE = 0o100644
const MAX_UINT32 = 0xffffffff
const MAX_UINT16 = 0xffff

const isLong = ({ bytes, compressedBytes }: ZipEntry) => bytes >= MAX_UINT32 || compressedBytes >= MAX_UINT32

/** Little-endian numbers, each with its length in bytes. */
function numbers (...fields: [value: number, length: 2 | 4 | 8][]) {
  const record = Buffer.alloc(fields.reduce((sum, [, length]) => sum + length, 0))
  let at = 0
  for (const [value, length] of fields) {
    if (length === 8) record.writeBigUInt64LE(BigInt(value), at)
    else record.writeUIntLE(value, at, length)
    at += length
  }
  return record
}

/** What stands before the content of a file. */
export const localHeaderOf = ({ name, isCompressed, modifiedAt }: LocalHeader) =>
  Buffer.concat([
    numbers(
      [0x04034b50, 4],
      [VERSION, 2],
      [FLAGS, 2],
      [isCompressed ? DEFLATED : 0, 2],
      [modifiedAt, 4],
      [0, 4],
      [0, 4],
      [0, 4],
      [name.length, 2],
      [0, 2]
    ),
    name
  ])

/** What stands behind the content of a file. */
export function descriptorOf (entry: ZipEntry) {
  const length = isLong(entry) ? 8 : 4
  return numbers([0x08074b50, 4], [entry.crc, 4], [entry.compressedBytes, length], [entry.bytes, length])
}

/** What the directory says about a file. */
export function directoryEntryOf (entry: ZipEntry) {
  const { name, isCompressed, modifiedAt, crc, bytes, compressedBytes, offset } = entry
  const needsZip64 = isLong(entry) || offset >= MAX_UINT32
  const zip64 = needsZip64 ? numbers([1, 2], [24, 2], [bytes, 8], [compressedBytes, 8], [offset, 8]) : Buffer.alloc(0)
  return Buffer.concat([
    numbers(
      [0x02014b50, 4],
      [MADE_ON_UNIX + VERSION_OF_ZIP64, 2],
      [needsZip64 ? VERSION_OF_ZIP64 : VERSION, 2],
      [FLAGS, 2],
      [isCompressed ? DEFLATED : 0, 2],
      [modifiedAt, 4],
      [crc, 4],
      [needsZip64 ? MAX_UINT32 : compressedBytes, 4],
      [needsZip64 ? MAX_UINT32 : bytes, 4],
      [name.length, 2],
      [zip64.length, 2],
      // No comment, on the first disk, not known to be a text.
      [0, 2],
      [0, 2],
      [0, 2],
      [REGULAR_FILE * 0x10000, 4],
      [needsZip64 ? MAX_UINT32 : offset, 4]
    ),
    name,
    zip64
  ])
}

interface Directory {
  count: number
  bytes: number
  offset: number
}

/** The end of a zip, which says where the directory is. */
export function endOf ({ count, bytes, offset }: Directory) {
  const needsZip64 = count >= MAX_UINT16 || bytes >= MAX_UINT32 || offset >= MAX_UINT32
  const zip64 = numbers(
    [0x06064b50, 4],
    // The length of the rest of this record.
    [44, 8],
    [MADE_ON_UNIX + VERSION_OF_ZIP64, 2],
    [VERSION_OF_ZIP64, 2],
    [0, 4],
    [0, 4],
    [count, 8],
    [count, 8],
    [bytes, 8],
    [offset, 8],
    // Where the record that ends here begins, on the only disk.
    [0x07064b50, 4],
    [0, 4],
    [offset + bytes, 8],
    [1, 4]
  )
  const shortCount = needsZip64 ? MAX_UINT16 : count
  const end = numbers(
    [0x06054b50, 4],
    [0, 2],
    [0, 2],
    [shortCount, 2],
    [shortCount, 2],
    [needsZip64 ? MAX_UINT32 : bytes, 4],
    [needsZip64 ? MAX_UINT32 : offset, 4],
    [0, 2]
  )
  return needsZip64 ? Buffer.concat([zip64, end]) : end
}

/** The date and time in the format of MS-DOS, in UTC. */
export function toDosTime (at: Date) {
  const date = (at.getUTCFullYear() - 1980) * 512 + (at.getUTCMonth() + 1) * 32 + at.getUTCDate()
  const time = at.getUTCHours() * 2048 + at.getUTCMinutes() * 32 + Math.floor(at.getUTCSeconds() / 2)
  return date * 0x10000 + time
}
