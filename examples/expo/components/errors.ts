import { TandemError } from '@tandem/sdk'

/** The sentence of the API for people. */
export const messageOf = (error: unknown) =>
  error instanceof TandemError ? error.message : 'Something went wrong. Please try again.'
