import {
  EncodedAudioPacketSource,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  FilePathSource,
  FilePathTarget,
  Input,
  MP4,
  Mp4OutputFormat,
  Output,
  QTFF,
  type EncodedPacket,
  type InputAudioTrack,
  type InputVideoTrack
} from 'mediabunny'
import { checkBoxes } from './boxes.ts'
import { dropUserData } from './nal-units.ts'
import { readParameters, type Parameters } from './parameter-sets.ts'
import { VideoProblem } from './problems.ts'

const MAX_LONG_SIDE_PIXELS = 1_920
const MAX_SHORT_SIDE_PIXELS = 1_080
// Coded pictures are whole blocks of 16 pixels: 1,080 lines are coded as 1,088.
const BLOCK_PIXELS = 16
// What phones call 60 is a little more or less.
const MAX_FRAMES_PER_SECOND = 61
const MAX_BITS_PER_SECOND = 12_000_000
const MAX_PACKETS = 20_000
const MAX_PACKET_BYTES = 8 * 1024 * 1024
// Of the library, for reading and for writing; by default eight times as much.
const BUFFER_BYTES = 2 * 1024 * 1024
const MIN_SECONDS = 0.95
// A recording that was stopped at the limit ends with the frame, or with the sound, that was being recorded.
const TOLERANCE_SECONDS = 0.5
// Baseline, Main and High.
const PROFILES = new Set([66, 77, 100])

/** A video as it is shown: after its rotation. */
export interface VideoDetails {
  width: number
  height: number
  durationSeconds: number
}

/**
 * Copies the picture and the first AAC sound of a file into a new MP4 whose tables stand first, so that it plays while
 * it is loaded. Nothing else is copied: neither other tracks, nor the place, title or time of the recording. The samples
 * stay as they are; nothing is decoded.
 * @throws VideoProblem
 */
export async function remux (source: string, target: string, { maxSeconds }: { maxSeconds: number }) {
  await checkBoxes(source)
  using input = new Input({ source: new FilePathSource(source, { maxCacheSize: BUFFER_BYTES }), formats: [MP4, QTFF] })
  const [picture] = await input.getVideoTracks()
  if (!picture) throw new VideoProblem('NoPicture')
  const parameters = await checkPicture(picture)
  const sounds = await input.getAudioTracks()
  const sound = await findAac(sounds)
  if (sounds.length > 0 && !sound) throw new VideoProblem('OtherSound', { codec: await nameOf(sounds[0]!) })

  const ofPicture = await measure(picture)
  const ofSound = sound && await measure(sound)
  const durationSeconds = Math.max(ofPicture.endSeconds, ofSound?.endSeconds ?? 0)
  checkLength(ofPicture, durationSeconds, maxSeconds)

  await copy({ picture, sound, parameters, target, packets: [ofPicture.packets, ofSound?.packets ?? 0] })
  return {
    width: Math.round(await picture.getDisplayWidth()),
    height: Math.round(await picture.getDisplayHeight()),
    durationSeconds: Math.min(Math.round(durationSeconds * 100) / 100, maxSeconds)
  }
}

async function checkPicture (track: InputVideoTrack) {
  if (await track.getCodec() !== 'avc' || await track.getInternalCodecId() !== 'avc1') {
    throw new VideoProblem('OtherCodec', { codec: await nameOf(track) })
  }
  const description = (await track.getDecoderConfig())?.description
  if (!description) throw new VideoProblem('CorruptVideo')
  const parameters = readParameters(
    ArrayBuffer.isView(description)
      ? new Uint8Array(description.buffer, description.byteOffset, description.byteLength)
      : new Uint8Array(description)
  )
  if (parameters.bitDepth > 8 || await track.hasHighDynamicRange()) throw new VideoProblem('HighDynamicRange')
  if (!PROFILES.has(parameters.profile)) throw new VideoProblem('OtherProfile')
  const [coded, stated] = [parameters, { width: await track.getCodedWidth(), height: await track.getCodedHeight() }]
  if ([coded, stated].some(isTooLarge)) throw new VideoProblem('PictureTooLarge')
  return parameters
}

const isTooLarge = ({ width, height }: { width: number, height: number }) =>
  Math.max(width, height) > MAX_LONG_SIDE_PIXELS ||
  Math.min(width, height) > Math.ceil(MAX_SHORT_SIDE_PIXELS / BLOCK_PIXELS) * BLOCK_PIXELS

async function findAac (tracks: InputAudioTrack[]) {
  for (const track of tracks) if (await track.getCodec() === 'aac' && await track.getDecoderConfig()) return track
}

/** The name of a codec for people: letters, digits and spaces of what is in the file. */
async function nameOf (track: InputVideoTrack | InputAudioTrack) {
  const name = await track.getCodec() ?? String(await track.getInternalCodecId())
  return { hevc: 'HEVC', vp9: 'VP9', av1: 'AV1' }[name as string] ?? name.replaceAll(/[^\w-]/g, '').slice(0, 20)
}

interface Measured {
  packets: number
  bytes: number
  endSeconds: number
}

/** Goes through a track without reading its samples. */
async function measure (track: InputVideoTrack | InputAudioTrack): Promise<Measured> {
  let [packets, bytes, endSeconds] = [0, 0, 0]
  for await (const packet of new EncodedPacketSink(track).packets(undefined, undefined, { metadataOnly: true })) {
    if (packets === 0 && packet.type !== 'key') throw new VideoProblem('CorruptVideo')
    packets++
    bytes += packet.byteLength
    if (packets > MAX_PACKETS || packet.byteLength > MAX_PACKET_BYTES || packet.byteLength === 0) {
      throw new VideoProblem('CorruptVideo')
    }
    endSeconds = Math.max(endSeconds, packet.timestamp + packet.duration)
  }
  if (packets === 0 || !Number.isFinite(endSeconds)) throw new VideoProblem('CorruptVideo')
  return { packets, bytes, endSeconds }
}

function checkLength (picture: Measured, durationSeconds: number, maxSeconds: number) {
  if (durationSeconds > maxSeconds + TOLERANCE_SECONDS) throw new VideoProblem('VideoTooLong', { seconds: maxSeconds })
  if (picture.endSeconds < MIN_SECONDS) throw new VideoProblem('VideoTooShort')
  if (picture.packets / picture.endSeconds > MAX_FRAMES_PER_SECOND) throw new VideoProblem('TooManyFrames')
  if (picture.bytes * 8 / picture.endSeconds > MAX_BITS_PER_SECOND) throw new VideoProblem('BitRateTooHigh')
}

interface Copy {
  picture: InputVideoTrack
  sound: InputAudioTrack | undefined
  parameters: Parameters
  target: string
  /** Of the picture and of the sound. */
  packets: [number, number]
}

async function copy ({ picture, sound, parameters, target, packets: [pictures, sounds] }: Copy) {
  const output = new Output({
    // With room for the tables in front: otherwise all samples would wait for them in memory.
    format: new Mp4OutputFormat({ fastStart: 'reserve' }),
    target: new FilePathTarget(target, { chunkSize: BUFFER_BYTES })
  })
  const toPicture = new EncodedVideoPacketSource('avc')
  output.addVideoTrack(toPicture, {
    rotation: await picture.getRotation(),
    flip: await picture.getFlip(),
    maximumPacketCount: pictures
  })
  const toSound = sound && new EncodedAudioPacketSource('aac')
  if (toSound) output.addAudioTrack(toSound, { maximumPacketCount: sounds })
  await output.start()

  const pictureConfig = await picture.getDecoderConfig()
  const soundConfig = await sound?.getDecoderConfig()
  let copied = 0
  // In the order of time, so that a player finds what belongs together in one place.
  for await (const { packet, isSound } of inOrder(picture, sound)) {
    if (packet.data.byteLength !== packet.byteLength) throw new VideoProblem('CorruptVideo')
    copied++
    if (isSound) {
      await toSound?.add(packet, soundConfig ? { decoderConfig: soundConfig } : undefined)
    } else {
      const data = dropUserData(packet.data, parameters.lengthBytes)
      await toPicture.add(packet.clone({ data }), pictureConfig ? { decoderConfig: pictureConfig } : undefined)
    }
  }
  // A sample outside of the file ends its track early.
  if (copied !== pictures + sounds) throw new VideoProblem('CorruptVideo')
  await output.finalize()
}

async function* inOrder (picture: InputVideoTrack, sound: InputAudioTrack | undefined) {
  const packetsOf = (track: InputVideoTrack | InputAudioTrack) => new EncodedPacketSink(track).packets()
  const sounds = sound && packetsOf(sound)
  let nextSound = await sounds?.next()
  for await (const packet of packetsOf(picture)) {
    while (nextSound && !nextSound.done && nextSound.value.timestamp <= packet.timestamp) {
      yield { packet: nextSound.value, isSound: true }
      nextSound = await sounds?.next()
    }
    yield { packet, isSound: false }
  }
  for (; nextSound && !nextSound.done; nextSound = await sounds?.next()) {
    yield { packet: nextSound.value as EncodedPacket, isSound: true }
  }
}
