import { Text } from '@tandem/service-kit'

/** An address as it is stored and compared: lower case, at most 254 characters. */
export const Email = Text({ max: 254, format: 'email', transform: ['trim', 'toLowerCase'], examples: ['ana@example.com'] })
