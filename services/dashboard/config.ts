import Type from 'typebox'
import { Url } from '@tandem/process-kit'
import { CdnUrl } from '@tandem/media-url-kit'
import { ServiceEnvironment } from '@tandem/service-kit'

export const Config = Type.Object({
  ...ServiceEnvironment,
  REDIS_URL: Url({ description: 'The cache of statistics, for one minute; the service works correctly without it' }),
  CDN_URL: CdnUrl()
})
