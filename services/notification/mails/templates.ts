import { languageOfLocale, type Language } from '@tandem/http-kit'
import { english, type MailTemplates } from './english.ts'
import { indonesian } from './indonesian.ts'

const templates: Record<Language, MailTemplates> = { en: english, id: indonesian }

/** The templates in a person's language, or in English if that language is not supported. */
export const templatesFor = (locale: string) => templates[languageOfLocale(locale)]
