import type { Language } from '@tandem/http-kit'
import { english, type Texts } from './english.ts'
import { indonesian } from './indonesian.ts'

export type { Texts }

const texts: Record<Language, Texts> = { en: english, id: indonesian }

export const textsIn = (language: Language) => texts[language]
