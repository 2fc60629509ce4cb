import { readTimezone } from '@tandem/account-kit'

interface MeetingTime {
  startsAt: string
  endsAt: string
  timezone: string
}

/** The time of a meeting on the clocks of its place, whatever the reader's are. */
export function formatMeetingTime (locale: string, { startsAt, endsAt, ...others }: MeetingTime) {
  const timezone = readTimezone(others.timezone)
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short', timeZone: timezone })
  return `${format.formatRange(new Date(startsAt), new Date(endsAt))} (${timezone})`
}
