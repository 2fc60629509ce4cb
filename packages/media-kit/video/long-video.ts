import {
  EncodedPacketSink,
  EncodedVideoPacketSource,
  FilePathSource,
  FilePathTarget,
  Input,
  MP4,
  Mp4OutputFormat,
  Output
} from 'mediabunny'
import path from 'node:path'

// A NAL unit that decoders ignore.
const FILLER = 12

/** Writes a video of any length for tests: one of `test-videos` again and again, with filler up to the wanted rate. */
export async function createLongVideo (
  file: string,
  { seconds, bytesPerSecond }: { seconds: number, bytesPerSecond: number }
) {
  const source = path.join(import.meta.dirname, '../test-videos/silent.mp4')
  using input = new Input({ source: new FilePathSource(source), formats: [MP4] })
  const track = (await input.getPrimaryVideoTrack())!
  const decoderConfig = (await track.getDecoderConfig())!
  const packets = await Array.fromAsync(new EncodedPacketSink(track).packets())
  const duration = await track.computeDuration()
  const fillerBytes = Math.round(bytesPerSecond * duration / packets.length)
  const filler = Buffer.alloc(fillerBytes, 0xff)
  filler.writeUInt32BE(fillerBytes - 4, 0)
  filler[4] = FILLER

  const output = new Output({ format: new Mp4OutputFormat({ fastStart: false }), target: new FilePathTarget(file) })
  const target = new EncodedVideoPacketSource('avc')
  output.addVideoTrack(target)
  await output.start()
  for (let start = 0; start + duration <= seconds; start += duration) {
    for (const packet of packets) {
      const data = Buffer.concat([packet.data, filler])
      await target.add(packet.clone({ data, timestamp: packet.timestamp + start }), { decoderConfig })
    }
  }
  await output.finalize()
}
