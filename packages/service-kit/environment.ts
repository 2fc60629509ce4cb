import { ProcessEnvironment, RootKeys, Urls } from '@tandem/process-kit'

/** The variables that every service has. Spread them into its own: `Type.Object({ ...ServiceEnvironment, … })`. */
export const ServiceEnvironment = {
  ...ProcessEnvironment,
  IDENTITY_ROOT_PUBLIC_KEYS: RootKeys(),
  DATABASE_URL: Urls(),
  NATS_URL: Urls()
}
