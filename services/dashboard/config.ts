import Type from 'typebox'
import { Url } from '@tandem/process-kit'
import { CdnUrl } from '@tandem/media-url-kit'
import { ServiceEnvironment } from '@tandem/service-kit'

export const Config = Type.Object({
  ...ServiceEnvironment,
  REDIS_URL: Url({ description: 'The cache of statistics, for one minute; the service works correctly without it' }),
  CDN_URL: CdnUrl(),
  MIN_AGE: Type.Integer({
    minimum: 0,
    maximum: 120,
    default: 18,
    description: 'Minimum age for tracking fasts; 0 means no minimum'
  })
})
