import { readTimezone } from '@tandem/account-kit'
import { readBrand } from '@tandem/brand-kit'
import { setBounded } from '@tandem/process-kit'
import { plainQuote } from '@tandem/mail-kit'
import { isWrittenByCompany, type Kind, usesDisplayName } from './kinds.ts'
import type { Params } from '../tables.ts'

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
  locale: string | null,
  timezone: string,
  now = new Date()
) {
  const { texts: { of, defaultLocale } } = readBrand()
  const texts = of(locale)
  const { startsAt, excerpt, timezone: ownTimezone } = params
  // An activity is at the time of its own place, wherever the reader is.
  const shownTimezone = readTimezone(typeof ownTimezone === 'string' ? ownTimezone : timezone)
  const name = usesDisplayName(kind) ? params['displayName'] : actorName
  const values = {
    // People wrote some of them, and must not send links or markup through us.
    ...isWrittenByCompany(kind) ? readWords(params, texts.locale, defaultLocale) : mapStrings(params, plainQuote),
    name: (typeof name === 'string' && plainQuote(name)) || texts.format('pushes.someone'),
    others: othersCount,
    quoted: excerpt ? 'yes' : 'no',
    ...typeof startsAt === 'string' && {
      startsAt: dateFormatFor(texts.locale, shownTimezone).format(new Date(startsAt)),
      ...timeLeft(new Date(startsAt), now)
    }
  }
  return {
    title: texts.format(`pushes.${kind}.title`, values),
    body: texts.format(`pushes.${kind}.body`, values)
  }
}

/** What the company writes is in each of its languages, such as `title_en`. */
const readWords = (params: Params, locale: string, defaultLocale: string): Params => ({
  title: params[`title_${locale}`] ?? params[`title_${defaultLocale}`] ?? null,
  body: params[`body_${locale}`] ?? params[`body_${defaultLocale}`] ?? null
})

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

// There are some 400 time zones.
const MAX_DATE_FORMATS = 1_000
const dateFormats = new Map<string, Intl.DateTimeFormat>()

function dateFormatFor (locale: string, timezone: string) {
  const key = `${locale} ${timezone}`
  const cached = dateFormats.get(key)
  if (cached) return cached
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short', timeZone: timezone })
  setBounded(dateFormats, key, format, MAX_DATE_FORMATS)
  return format
}
