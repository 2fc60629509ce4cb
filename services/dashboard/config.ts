import Type from 'typebox'
import { RootKeys, ServiceEnvironment, Url } from '@tandem/process-kit'

export const Config = Type.Object({
  ...ServiceEnvironment,
  IDENTITY_ROOT_PUBLIC_KEYS: RootKeys(),
  DATABASE_URL: Url(),
  NATS_URL: Url(),
  REDIS_URL: Url({ description: 'The cache of statistics, for one minute; the service works correctly without it' })
})
