import Type from 'typebox'
import { ServiceEnvironment, Url } from '@tandem/service-kit'

export const Config = Type.Object({
  ...ServiceEnvironment,
  DATABASE_URL: Url(),
  NATS_URL: Url(),
  REDIS_URL: Url(),
  SMTP_URL: Url(),
  MAIL_FROM: Type.String({ default: 'Tandem <hello@tandem.example>' }),
  PUBLIC_URL: Url({ description: 'Where people reach this installation; links in mails begin with it' }),
  SECRET: Type.String({ minLength: 32, description: 'At least 32 random characters; losing it signs everybody out' }),
  PROVIDER_A_ISSUER: Type.Optional(Type.String()),
  PROVIDER_A_AUDIENCE: Type.Optional(Type.String()),
  PROVIDER_A_JWKS_URL: Type.Optional(Url()),
  PROVIDER_B_ISSUER: Type.Optional(Type.String()),
  PROVIDER_B_AUDIENCE: Type.Optional(Type.String()),
  PROVIDER_B_JWKS_URL: Type.Optional(Url())
})
