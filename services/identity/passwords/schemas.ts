import { Secret } from '@tandem/http-kit'

/**
 * A new password: 8 to 128 characters with a lowercase letter, an uppercase letter and a digit, of any script. A letter of
 * a script without case counts as both.
 */
export const NewPassword = Secret({
  min: 8,
  max: 128,
  pattern: '^(?=.*[\\p{Ll}\\p{Lo}])(?=.*[\\p{Lu}\\p{Lo}])(?=.*\\p{Nd})',
  expectedFormat: 'password',
  // Without the pattern, which few generators of clients can read.
  documentedAs: Secret({
    min: 8,
    max: 128,
    description: '8 to 128 characters, with a lowercase letter, an uppercase letter and a digit',
    examples: ['Wide-Open-5ky']
  })
})

/** A new password that is set with a mailed link: any 8 to 128 characters, as the published API has it. */
export const ResetPassword = Secret({
  min: 8,
  max: 128,
  description: '8 to 128 characters',
  examples: ['Wide-Open-5ky']
})

/** A password to compare. It may have been set under different rules. */
export const Password = Secret({ max: 128, examples: ['Wide-Open-5ky'] })
