import Type from 'typebox'
import { ServiceEnvironment, Url } from '@tandem/service-kit'

export const Config = Type.Object({
  ...ServiceEnvironment,
  DATABASE_URL: Url(),
  NATS_URL: Url(),
  REDIS_URL: Url({ description: 'Where statistics are kept for a minute; the service is right without it' })
})
