import Type from 'typebox'
import { ServiceEnvironment, Url } from '@tandem/service-kit'

export const Config = Type.Object({
  ...ServiceEnvironment,
  DATABASE_URL: Url(),
  NATS_URL: Url(),
  REDIS_URL: Url(),
  SMTP_URL: Url(),
  MAIL_FROM: Type.String({ default: 'Tandem <hello@tandem.example>' })
})
