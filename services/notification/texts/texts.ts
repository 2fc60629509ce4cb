import { IntlMessageFormat } from 'intl-messageformat'
import { readTimezone } from '@tandem/account-kit'
import type { Language } from '@tandem/http-kit'
import { plainQuote } from '@tandem/mail-kit'
import { isWrittenByCompany, type Kind, type Texts, usesDisplayName } from './kinds.ts'
import type { Params } from '../tables.ts'
import { english } from './english.ts'
import { indonesian } from './indonesian.ts'

export const texts: Record<Language, Texts> = { en: english, id: indonesian }

// In the place of a missing name.
const SOMEONE: Record<Language, string> = { en: 'Someone', id: 'Seseorang' }

/** The part of a notification that its text is rendered from. */
export interface TextSource {
  kind: Kind
  actorName: string | null
  othersCount: number
  params: Params
}

/** Renders the title and body of a notification for one reader, as of `now`. */
export function renderText (
  { kind, actorName, othersCount, params }: TextSource,
  language: Language,
  timezone: string,
  now = new Date()
) {
  const { startsAt, excerpt, timezone: ownTimezone } = params
  // An activity is at the time of its own place, wherever the reader is.
  const shownTimezone = readTimezone(typeof ownTimezone === 'string' ? ownTimezone : timezone)
  const name = usesDisplayName(kind) ? params['displayName'] : actorName
  const values = {
    // People wrote some of them, and must not send links or markup through us.
    ...isWrittenByCompany(kind) ? params : mapStrings(params, plainQuote),
    name: (typeof name === 'string' && plainQuote(name)) || SOMEONE[language],
    others: othersCount,
    quoted: excerpt ? 'yes' : 'no',
    ...typeof startsAt === 'string' && {
      startsAt: dateFormatFor(language, shownTimezone).format(new Date(startsAt)),
      ...timeLeft(new Date(startsAt), now)
    }
  }
  return {
    title: compile(language, `${kind}.title`, texts[language][kind].title).format(values) as string,
    body: compile(language, `${kind}.body`, texts[language][kind].body).format(values) as string
  }
}

/** A reminder can be sent and read late, so how long it is until the start is known only then. */
function timeLeft (startsAt: Date, now: Date) {
  const minutesLeft = Math.ceil((startsAt.getTime() - now.getTime()) / 60_000)
  if (minutesLeft <= 0) return { left: 'NONE' }
  return minutesLeft < 60
    ? { left: 'MINUTES', minutesLeft }
    : { left: 'HOURS', hoursLeft: Math.round(minutesLeft / 60) }
}

const mapStrings = (params: Params, map: (text: string) => string): Params =>
  Object.fromEntries(
    Object.entries(params).map(([key, value]) => [key, typeof value === 'string' ? map(value) : value])
  )

const messages = new Map<string, IntlMessageFormat>()

function compile (language: Language, key: string, text: string) {
  const cached = messages.get(`${language}.${key}`)
  if (cached) return cached
  const message = new IntlMessageFormat(text, language)
  messages.set(`${language}.${key}`, message)
  return message
}

const dateFormats = new Map<string, Intl.DateTimeFormat>()

function dateFormatFor (language: Language, timezone: string) {
  const key = `${language} ${timezone}`
  const cached = dateFormats.get(key)
  if (cached) return cached
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'short', timeZone: timezone })
  dateFormats.set(key, format)
  return format
}
