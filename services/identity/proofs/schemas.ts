import { Secret } from '@tandem/http-kit'

/** A proof as `POST /account/proof` returned it. */
export const Proof = Secret({
  max: 100,
  description: 'The proof of `POST /account/proof`',
  examples: ['Jd0Uu3yq5v0XcG1m9o4kA1b7l2Vn8rTz6wQxYpE_sHc']
})
