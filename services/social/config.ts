import Type from 'typebox'
import { MediaEnvironment, PrivateMediaEnvironment } from '@tandem/media-kit'
import { FourEyes } from '@tandem/operator-kit'
import { ServiceEnvironment } from '@tandem/service-kit'

export const Config = Type.Object({
  ...ServiceEnvironment,
  ...MediaEnvironment,
  ...PrivateMediaEnvironment,
  FOUR_EYES: FourEyes
})
