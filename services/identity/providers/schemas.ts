import { Secret } from '@tandem/http-kit'

/** A token that a provider issued to the app. */
export const ProviderToken = Secret({
  max: 8_192,
  description: 'The JWT that the provider issued',
  examples: ['eyJhbGciOiJSUzI1NiIsImtpZCI6IjdkIn0.eyJzdWIiOiIxMDc2…']
})
