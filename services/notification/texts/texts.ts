import { IntlMessageFormat } from 'intl-messageformat'
import type { Language } from '@tandem/service-kit'
import { isUnderDisplayName, type Kind } from '../inbox/kinds.ts'
import type { Params } from '../tables.ts'
import { english, type Texts } from './english.ts'
import { indonesian } from './indonesian.ts'

export const texts: Record<Language, Texts> = { en: english, id: indonesian }

/** What a text is made of. */
export interface Told {
  kind: Kind
  actorName: string | null
  others: number
  params: Params
}

/** The title and body of a notice, as one person reads them. */
export function write ({ kind, actorName, others, params }: Told, language: Language, timezone: string) {
  const { startsAt, excerpt } = params
  const name = isUnderDisplayName(kind) ? params['displayName'] : actorName
  const values = {
    ...params,
    name: name ?? texts[language].someone,
    others,
    quoted: excerpt ? 'yes' : 'no',
    ...typeof startsAt === 'string' && { startsAt: momentIn(language, timezone).format(new Date(startsAt)) }
  }
  return {
    title: compiled(language, `${kind}.title`, texts[language][kind].title).format(values) as string,
    body: compiled(language, `${kind}.body`, texts[language][kind].body).format(values) as string
  }
}

const messages = new Map<string, IntlMessageFormat>()

function compiled (language: Language, key: string, text: string) {
  const known = messages.get(`${language}.${key}`)
  if (known) return known
  const made = new IntlMessageFormat(text, language)
  messages.set(`${language}.${key}`, made)
  return made
}

const moments = new Map<string, Intl.DateTimeFormat>()

function momentIn (language: Language, timezone: string) {
  const key = `${language} ${timezone}`
  const known = moments.get(key)
  if (known) return known
  const made = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'short', timeZone: timezone })
  moments.set(key, made)
  return made
}
