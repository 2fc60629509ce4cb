import { Secret, Text } from '@tandem/http-kit'

/** A code as it appears in the mail, or as people type it: `123 456`, or in the digits of another script. */
export const Code = Text({
  asciiDigits: true,
  min: 6,
  max: 6,
  pattern: '^[0-9]{6}$',
  expectedFormat: 'code',
  description: 'Six digits',
  examples: ['042731']
})

/** The token of the link in a mail with a code. */
export const CodeLinkToken = Secret({ max: 100, description: 'The token from the link', examples: ['pX3f9kQe…'] })
