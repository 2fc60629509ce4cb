import { languageOfLocale, type Language } from '@tandem/http-kit'
import { english, type MailTemplates } from './english.ts'
import { indonesian } from './indonesian.ts'

const templates: Record<Language, MailTemplates> = { en: english, id: indonesian }

/** The mail templates for a locale; English if there are none in its language. */
export const mailTemplatesFor = (locale: string) => templates[languageOfLocale(locale)]
