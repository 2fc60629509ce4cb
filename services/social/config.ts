import Type from 'typebox'
import { Enum, HooksEnvironment } from '@tandem/http-kit'
import { MediaEnvironment, PrivateMediaEnvironment } from '@tandem/media-kit'
import { FourEyes } from '@tandem/operator-kit'
import { ServiceEnvironment } from '@tandem/service-kit'

export const Config = Type.Object({
  ...ServiceEnvironment,
  ...MediaEnvironment,
  ...PrivateMediaEnvironment,
  ...HooksEnvironment,
  VIDEO_TRANSCODER: Type.Optional(Enum(['ffmpeg'], {
    description: 'Writes videos that cannot be copied, such as HEVC, as H.264, and posters of those without one'
  })),
  FOUR_EYES: FourEyes
})
