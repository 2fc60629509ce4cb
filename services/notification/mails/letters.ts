import { languageOfLocale, type Language } from '@tandem/service-kit'
import { english, type Letters } from './english.ts'
import { indonesian } from './indonesian.ts'

const letters: Record<Language, Letters> = { en: english, id: indonesian }

/** The letters in a person's language; whoever has another reads English. */
export const lettersIn = (locale: string) => letters[languageOfLocale(locale)]
