import { Text } from '@tandem/http-kit'

/** A code as it appears in the mail. */
export const Code = Text({
  min: 6,
  max: 6,
  pattern: '^[0-9]{6}$',
  expectedFormat: {
    en: 'must be six digits',
    id: 'harus enam angka'
  },
  description: 'Six digits',
  examples: ['042731']
})
