import Type from 'typebox'
import { PurgeVariables } from '@tandem/media-kit'
import { AdminRoutesInApp } from '@tandem/operator-kit'
import { Url } from '@tandem/process-kit'
import { ServiceEnvironment } from '@tandem/service-kit'

export const Config = Type.Object({
  ...ServiceEnvironment,
  ADMIN_ROUTES_IN_APP: AdminRoutesInApp,
  CDN_URL: Url({ description: 'The base URL of uploaded media' }),
  ...PurgeVariables,
  MEDIA_DIR: Type.Optional(Type.String({ description: 'The folder for uploaded media, if it is not stored in S3' })),
  S3_ENDPOINT: Type.Optional(Url()),
  S3_BUCKET: Type.Optional(Type.String()),
  S3_REGION: Type.Optional(Type.String()),
  S3_ACCESS_KEY_ID: Type.Optional(Type.String()),
  S3_SECRET_ACCESS_KEY: Type.Optional(Type.String()),
  MEDIA_URLS_ONLY_OWN: Type.Boolean({
    default: false,
    description: 'Whether photos must be images that were uploaded here'
  })
})
