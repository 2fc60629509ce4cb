import Type from 'typebox'
import { RootKeys, ServiceEnvironment, Url } from '@tandem/service-kit'

export const Config = Type.Object({
  ...ServiceEnvironment,
  IDENTITY_ROOT_PUBLIC_KEYS: RootKeys(),
  DATABASE_URL: Url(),
  NATS_URL: Url(),
  REDIS_URL: Url({ description: 'Where statistics are kept for a minute; the service is right without it' })
})
