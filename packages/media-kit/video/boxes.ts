import { open, type FileHandle } from 'node:fs/promises'
import { VideoProblem } from './problems.ts'

// mediabunny believes what the tables of a file say: a count of 2^32 samples keeps it busy for minutes, and it takes a
// file that was cut off. So the structure of the file is checked before, and nothing else reads it until it is sound.

const MEBIBYTE = 1024 * 1024
// Tables of a minute take a tenth of it.
const MAX_TABLES_BYTES = 8 * MEBIBYTE
const MAX_BOXES = 20_000
// Each is a read of its own. A recording in fragments has two for each second.
const MAX_OUTER_BOXES = 1_000
const MAX_DEPTH = 12
// A minute of uncompressed sound, which cameras write beside AAC, is one sample each.
const MAX_SAMPLES = 6_000_000
const MAX_SAMPLES_OF_CHUNK = 200_000
const MAX_EDITS = 64

const CONTAINERS = new Set(['moov', 'trak', 'edts', 'mdia', 'minf', 'stbl', 'mvex', 'moof', 'traf'])
const ENCRYPTED = new Set(['encv', 'enca', 'enct', 'drmi', 'drms', 'sinf', 'pssh', 'senc'])
/** The tables that begin with the number of their entries: the bytes of an entry. */
const ENTRY_BYTES: Record<string, number> = { stts: 8, ctts: 8, stsc: 12, stco: 4, co64: 8, stss: 4, elst: 12 }

interface Box {
  type: string
  /** Offsets of its content. */
  start: number
  end: number
}

/** What the tables of a file say. */
interface Tables {
  boxes: number
  samples: number
  pictures: number
}

/**
 * Checks that a file is an MP4 or QuickTime file, complete and not encrypted, with one track of pictures, and that its
 * tables are as long as they say.
 * @throws VideoProblem
 */
export async function checkBoxes (path: string) {
  await using file = await open(path)
  const { size } = await file.stat()
  if (size === 0) throw new VideoProblem('NotAVideo')
  const tables: Tables = { boxes: 0, samples: 0, pictures: 0 }
  const found = new Set<string>()
  for (let position = 0, outerBoxes = 0; position < size;) {
    if (++outerBoxes > MAX_OUTER_BOXES) throw new VideoProblem('CorruptVideo')
    const box = await readHeader(file, position, size)
    if (position === 0 && box.type !== 'ftyp') throw new VideoProblem('NotAVideo')
    if (++tables.boxes > MAX_BOXES || box.end > size) throw new VideoProblem('CorruptVideo')
    if (box.end > box.start) found.add(box.type)
    if (ENCRYPTED.has(box.type)) throw new VideoProblem('EncryptedVideo')
    if (CONTAINERS.has(box.type)) checkTables(await readContent(file, box), tables, [box.type])
    position = box.end
  }
  // Of what a phone was still writing, the tables are missing.
  if (!found.has('moov') || !found.has('mdat')) throw new VideoProblem('CorruptVideo')
  if (tables.pictures === 0) throw new VideoProblem('NoPicture')
  if (tables.pictures > 1) throw new VideoProblem('SeveralPictures')
}

async function readHeader (file: FileHandle, position: number, size: number) {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, position)
  return parseHeader(buffer.subarray(0, bytesRead), 0, position, size)
}

async function readContent (file: FileHandle, { start, end }: Box) {
  if (end - start > MAX_TABLES_BYTES) throw new VideoProblem('CorruptVideo')
  const { buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start)
  return buffer
}

/** @param position where the header, which is in `bytes` at `offset`, stands in what ends at `limit` */
function parseHeader (bytes: Buffer, offset: number, position: number, limit: number): Box {
  if (bytes.length - offset < 8) throw new VideoProblem(position === 0 ? 'NotAVideo' : 'CorruptVideo')
  const type = bytes.toString('latin1', offset + 4, offset + 8)
  const shortSize = bytes.readUInt32BE(offset)
  const isLong = shortSize === 1
  if (isLong && bytes.length - offset < 16) throw new VideoProblem('CorruptVideo')
  const headerBytes = isLong ? 16 : 8
  // Zero: up to the end.
  const size = isLong ? Number(bytes.readBigUInt64BE(offset + 8)) : shortSize === 0 ? limit - position : shortSize
  if (size < headerBytes) throw new VideoProblem(position === 0 ? 'NotAVideo' : 'CorruptVideo')
  return { type, start: position + headerBytes, end: position + size }
}

function checkTables (content: Buffer, tables: Tables, path: string[]) {
  if (path.length > MAX_DEPTH) throw new VideoProblem('CorruptVideo')
  for (let position = 0; position < content.length;) {
    // QuickTime ends a list of boxes with 32 zero bits.
    if (content.length - position === 4 && content.readUInt32BE(position) === 0) return
    const box = parseHeader(content, position, position, content.length)
    if (++tables.boxes > MAX_BOXES || box.end > content.length) throw new VideoProblem('CorruptVideo')
    if (ENCRYPTED.has(box.type)) throw new VideoProblem('EncryptedVideo')
    const inside = content.subarray(box.start, box.end)
    if (CONTAINERS.has(box.type)) checkTables(inside, tables, [...path, box.type])
    else checkTable(box.type, inside, tables, path)
    position = box.end
  }
}

function checkTable (type: string, content: Buffer, tables: Tables, path: string[]) {
  const read = (offset: number) => {
    if (offset + 4 > content.length) throw new VideoProblem('CorruptVideo')
    return content.readUInt32BE(offset)
  }
  const count = (samples: number) => {
    tables.samples += samples
    if (tables.samples > MAX_SAMPLES) throw new VideoProblem('CorruptVideo')
  }
  // Version and flags stand before the number of entries.
  const entryBytes = ENTRY_BYTES[type]
  if (entryBytes !== undefined) {
    const entries = read(4)
    if (entries * entryBytes > content.length - 8) throw new VideoProblem('CorruptVideo')
    if (type === 'elst' && entries > MAX_EDITS) throw new VideoProblem('CorruptVideo')
    for (let entry = 0; entry < entries; entry++) {
      if (type === 'stts') count(read(8 + entry * 8))
      if (type === 'stsc' && read(12 + entry * 12) > MAX_SAMPLES_OF_CHUNK) throw new VideoProblem('CorruptVideo')
    }
  }
  if (type === 'stsz') {
    const [sampleBytes, samples] = [read(4), read(8)]
    if (sampleBytes === 0 && samples * 4 > content.length - 12) throw new VideoProblem('CorruptVideo')
    count(samples)
  }
  if (type === 'trun') count(read(4))
  // Of a track, not of its references to data, which have a handler as well.
  if (type === 'hdlr' && path.at(-1) === 'mdia' && read(8) === 0x76696465) tables.pictures++
  if (type === 'stsd') checkDescriptions(content, read(4))
}

/** The descriptions of samples are boxes too, of which only the names are of interest. */
function checkDescriptions (content: Buffer, descriptions: number) {
  for (let position = 8, index = 0; index < descriptions; index++) {
    const box = parseHeader(content, position, position, content.length)
    if (box.end > content.length) throw new VideoProblem('CorruptVideo')
    if (ENCRYPTED.has(box.type)) throw new VideoProblem('EncryptedVideo')
    position = box.end
  }
}
