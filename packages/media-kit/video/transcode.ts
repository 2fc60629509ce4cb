import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { ConfigError, Unavailable } from '@tandem/process-kit'
import { boundProcess } from './bounded-process.ts'
import { VideoProblem, type ProblemName } from './problems.ts'

// Of a video of a minute in 4K. A row of a video that is being stored counts as abandoned after six minutes.
const BOUNDS = { cpuSeconds: 150, bytes: 1024 * 1024 * 1024, deadlineMs: 100_000 }
// Within 1920 x 1080, or 1080 x 1920.
const SCALE = "scale='if(gt(iw,ih),min(1920,iw),min(1080,iw))':'if(gt(iw,ih),min(1080,ih),min(1920,ih))'" +
  ':force_original_aspect_ratio=decrease:force_divisible_by=2'

/** What ffmpeg mends. High dynamic range is not among it: without a person's eye the colours turn out pale. */
export const transcodable: ReadonlySet<ProblemName> = new Set<ProblemName>([
  'OtherCodec',
  'OtherProfile',
  'OtherSound',
  'PictureTooLarge',
  'TooManyFrames',
  'BitRateTooHigh'
])

/** @throws ConfigError if ffmpeg is not installed */
export function requireFfmpeg () {
  if (spawnSync('ffmpeg', ['-version']).status !== 0) throw new ConfigError('VIDEO_TRANSCODER: ffmpeg is not installed')
}

/** Writes a video as H.264 and AAC to the file `target`. @throws VideoProblem, Unavailable */
export async function transcode (source: string, target: string, { maxSeconds }: { maxSeconds: number }) {
  // One that is too long stays so: it is refused, not cut.
  const kept = `-t ${maxSeconds + 1} -map 0:v:0 -map 0:a:0? -map_metadata -1 -map_chapters -1`
  const picture = `-vf ${SCALE} -fpsmax 60 -c:v libx264 -preset veryfast -profile:v high -pix_fmt yuv420p`
  const rates = '-crf 23 -maxrate 8M -bufsize 16M'
  await runFfmpeg(source, `${kept} ${picture} ${rates} -c:a aac -ac 2 -f mp4`, target)
}

/** Writes a frame near the start of a video to the file `target`, as a PNG. @throws VideoProblem, Unavailable */
export async function writeFrame (source: string, target: string) {
  await runFfmpeg(source, `-ss 0.5 -frames:v 1 -vf ${SCALE} -c:v png -f image2`, target)
}

/** Without our environment, with one format and no protocol but that of files: strangers made the source. */
async function runFfmpeg (source: string, output: string, target: string) {
  const input = '-nostdin -loglevel error -protocol_whitelist file -threads 1 -f mov -i'
  const args = [...input.split(' '), source, '-threads', '1', ...output.split(' '), target]
  const child = spawn('ffmpeg', args, { env: { PATH: process.env['PATH'] }, stdio: 'ignore' })
  const bounds = boundProcess(child, BOUNDS)
  try {
    const [status] = await once(child, 'close').catch((cause: unknown) => {
      throw new Unavailable({ cause })
    }) as [number | null]
    if (bounds.isLate()) throw new Unavailable({ cause: new Error('ffmpeg is late') })
    if (status !== 0) throw new VideoProblem('CorruptVideo')
  } finally {
    await bounds.end()
  }
}
