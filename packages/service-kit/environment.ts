import { ProcessEnvironment, RootKeys, Url } from '@tandem/process-kit'

/** The variables that every service has. Spread them into its own: `Type.Object({ ...ServiceEnvironment, … })`. */
export const ServiceEnvironment = {
  ...ProcessEnvironment,
  IDENTITY_ROOT_PUBLIC_KEYS: RootKeys(),
  DATABASE_URL: Url(),
  NATS_URL: Url()
}
