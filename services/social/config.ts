import Type from 'typebox'
import { Enum, HooksEnvironment } from '@tandem/http-kit'
import { MAX_VIDEO_MEGABYTES, MediaEnvironment, PrivateMediaEnvironment } from '@tandem/media-kit'
import { FourEyes } from '@tandem/operator-kit'
import { ServiceEnvironment } from '@tandem/service-kit'

export const Config = Type.Object({
  ...ServiceEnvironment,
  ...MediaEnvironment,
  ...PrivateMediaEnvironment,
  ...HooksEnvironment,
  VIDEO_MAX_MB: Type.Integer({
    minimum: 1,
    maximum: MAX_VIDEO_MEGABYTES,
    default: 50,
    description: 'The largest video, in MB'
  }),
  VIDEO_MAX_SECONDS: Type.Integer({ minimum: 1, maximum: 600, default: 60, description: 'The longest video' }),
  VIDEO_TRANSCODER: Type.Optional(Enum(['ffmpeg'], {
    description: 'Writes videos that cannot be copied, such as HEVC, as H.264, and posters of those without one'
  })),
  FOUR_EYES: FourEyes
})
