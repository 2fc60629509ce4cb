import type { Letter } from '@tandem/mail-kit'
import { languages, type Language } from '@tandem/service-kit'
import { english } from './english.ts'
import { indonesian } from './indonesian.ts'

/**
 * Every mail that this service sends, in one language. None says the person's name: whoever registers somebody else's address
 * chooses it, and would send his own words to that person through us.
 */
export interface Letters {
  verification (code: string): Letter
  signIn (code: string): Letter
  reset (url: string): Letter
}

const letters: Record<Language, Letters> = { en: english, id: indonesian }

/** The letters in a person's language; whoever has another reads English. */
export const lettersIn = (locale: string) => letters[languages.find((each) => locale.startsWith(each)) ?? 'en']
