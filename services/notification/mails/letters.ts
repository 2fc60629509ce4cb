import type { Letter } from '@tandem/mail-kit'
import { languages, type Language } from '@tandem/service-kit'
import { english } from './english.ts'
import { indonesian } from './indonesian.ts'

/** Every mail that this service sends, in one language. */
export interface Letters {
  passwordChanged (name: string, how: 'INITIAL' | 'CHANGED' | 'RESET' | 'CLEARED'): Letter
  newSignIn (name: string, device: string | null, at: Date): Letter
}

const letters: Record<Language, Letters> = { en: english, id: indonesian }

/** The letters in a person's language; whoever has another reads English. */
export const lettersIn = (locale: string) => letters[languages.find((each) => locale.startsWith(each)) ?? 'en']
