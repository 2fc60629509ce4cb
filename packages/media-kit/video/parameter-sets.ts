import { VideoProblem } from './problems.ts'

/** What the decoder of a phone will do, whatever the tables of the file say. */
export interface Parameters {
  profile: number
  bitDepth: number
  width: number
  height: number
  /** How many bytes hold the length of a NAL unit. */
  lengthBytes: number
}

const SEQUENCE_PARAMETER_SET = 7
const PICTURE_PARAMETER_SET = 8
// Those whose sets have the format of the colours.
const HIGH_PROFILES = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128])

/**
 * Reads the parameters of H.264 from its `avcC` box.
 * @throws VideoProblem if the box has none, or several with pictures of different sizes
 */
export function readParameters (description: Uint8Array): Parameters {
  try {
    const bytes = Buffer.from(description)
    const [sets, next] = readSets(bytes, 6, bytes.readUInt8(5) & 0x1f)
    const [pictureSets] = readSets(bytes, next + 1, bytes.readUInt8(next))
    const isComplete = bytes[0] === 1 && sets.length > 0 && pictureSets.length > 0 &&
      sets.every((set) => typeOf(set) === SEQUENCE_PARAMETER_SET) &&
      pictureSets.every((set) => typeOf(set) === PICTURE_PARAMETER_SET)
    if (!isComplete) throw new VideoProblem('CorruptVideo')
    const [first, ...others] = sets.map(parseSet)
    if (others.some(({ width, height }) => width !== first!.width || height !== first!.height)) {
      throw new VideoProblem('CorruptVideo')
    }
    return { ...first!, lengthBytes: (bytes.readUInt8(4) & 3) + 1 }
  } catch (error) {
    throw error instanceof VideoProblem ? error : new VideoProblem('CorruptVideo')
  }
}

const typeOf = (set: Buffer) => set.readUInt8(0) & 0x1f

/** `count` sets, each after its length, and the offset behind them. */
function readSets (bytes: Buffer, start: number, count: number): [Buffer[], number] {
  const sets: Buffer[] = []
  let position = start
  for (let index = 0; index < count; index++) {
    const end = position + 2 + bytes.readUInt16BE(position)
    if (end > bytes.length) throw new VideoProblem('CorruptVideo')
    sets.push(bytes.subarray(position + 2, end))
    position = end
  }
  return [sets, position]
}

/** The fields of a sequence parameter set in the order of section 7.3.2.1.1 of H.264, up to the size of the picture. */
function parseSet (set: Buffer) {
  const { bit, number, skip } = createBitReader(set.subarray(4))
  const profile = set.readUInt8(1)
  let bitDepth = 8
  number()
  if (HIGH_PROFILES.has(profile)) {
    const chromaFormat = number()
    if (chromaFormat === 3) bit()
    bitDepth = 8 + Math.max(number(), number())
    bit()
    if (bit() === 1) skipScalingLists(chromaFormat === 3 ? 12 : 8)
  }
  number()
  const orderType = number()
  if (orderType === 0) number()
  if (orderType === 1) {
    bit()
    skip(2)
    skip(number())
  }
  number()
  bit()
  const width = (number() + 1) * 16
  const mapUnits = number() + 1
  // Interlaced pictures have half of the height.
  const height = mapUnits * 16 * (bit() === 1 ? 1 : 2)
  return { profile, bitDepth, width, height }

  function skipScalingLists (lists: number) {
    for (let list = 0; list < lists; list++) {
      if (bit() === 0) continue
      let next = 8
      for (let entry = 0, last = 8; entry < (list < 6 ? 16 : 64); entry++) {
        if (next !== 0) next = (last + signed(number()) + 256) % 256
        last = next === 0 ? last : next
      }
    }
  }
}

const signed = (code: number) => code % 2 === 1 ? (code + 1) / 2 : -code / 2

/** Reads bits, and numbers in Exp-Golomb code, of a NAL unit. Throws a RangeError behind its end. */
function createBitReader (unit: Buffer) {
  const bytes = unit.filter((byte, index) => !(byte === 3 && unit[index - 1] === 0 && unit[index - 2] === 0))
  let position = 0
  const bit = () => {
    const byte = bytes[position >> 3]
    if (byte === undefined) throw new RangeError('the unit ends early')
    return byte >> (7 - (position++ & 7)) & 1
  }
  const number = () => {
    let zeros = 0
    while (bit() === 0) zeros++
    if (zeros > 30) throw new RangeError('the number is too large')
    let value = 1
    for (let read = 0; read < zeros; read++) value = value * 2 + bit()
    return value - 1
  }
  const skip = (numbers: number) => {
    for (let skipped = 0; skipped < numbers; skipped++) number()
  }
  return { bit, number, skip }
}
