import Type from 'typebox'
import { MediaEnvironment } from '@tandem/media-kit'
import { AdminRoutesInApp } from '@tandem/operator-kit'
import { ServiceEnvironment } from '@tandem/service-kit'

export const Config = Type.Object({
  ...ServiceEnvironment,
  ...MediaEnvironment,
  ADMIN_ROUTES_IN_APP: AdminRoutesInApp
})
