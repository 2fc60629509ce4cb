import Type from 'typebox'
import { Enum, Id, Text, toAsciiDomain } from '@tandem/http-kit'

/** An email address in its stored and compared form: lower case, its domain in ASCII, at most 254 characters. */
export const Email = Text({
  max: 254,
  asciiDomain: true,
  format: 'email',
  transform: ['trim', 'toLowerCase'],
  examples: ['ana@example.com']
})

/** An address that somebody typed, in the same form. */
export const toEmail = (text: string) => toAsciiDomain(text.trim().toLowerCase())

/** An id that is required and must not be empty. */
export const RequiredId = Type.String({ ...Id, transform: ['trim'], minLength: 1 })

export const ProviderName = Enum(['PROVIDER_A', 'PROVIDER_B'])
