import Type from 'typebox'
import { HooksEnvironment } from '@tandem/http-kit'
import { List, Url } from '@tandem/process-kit'
import { FourEyes } from '@tandem/operator-kit'
import { CdnUrl } from '@tandem/media-url-kit'
import { ServiceEnvironment } from '@tandem/service-kit'

export const Config = Type.Object({
  ...ServiceEnvironment,
  FOUR_EYES: FourEyes,
  ...HooksEnvironment,
  REDIS_URL: Url(),
  SMTP_URL: Url(),
  MAIL_FROM: Type.Optional(Type.String({ description: 'The sender of mails; by default fromAddress of the brand' })),
  PUBLIC_URL: Url({ description: 'The public URL of this installation; links in mails start with it' }),
  CDN_URL: CdnUrl(),
  FCM_SERVICE_ACCOUNT_FILE: Type.Optional(
    Type.String({ description: 'A service account of the Firebase project. Without one, pushes are only logged' })
  ),
  FCM_BASE_URL: Url({ default: 'https://fcm.googleapis.com' }),
  WEBHOOK_PRIVATE_HOSTS: List({
    description: 'Hosts of webhook endpoints that may be private, and may be reached without TLS: for local work'
  }),
  LIKES_GATHER_SECONDS: Type.Integer({
    minimum: 0,
    maximum: 3600,
    default: 60,
    description: 'How long further likes of a post join the same notification'
  })
})
