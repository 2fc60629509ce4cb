import Type from 'typebox'
import { Id, Text } from '@tandem/service-kit'

/** An address as it is stored and compared: lower case, at most 254 characters. */
export const Email = Text({ max: 254, format: 'email', transform: ['trim', 'toLowerCase'], examples: ['ana@example.com'] })

/** An id that has to be said: an empty one is none. */
export const SaidId = Type.String({ ...Id, transform: ['trim'], minLength: 1 })
