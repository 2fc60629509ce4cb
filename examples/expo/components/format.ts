import { useApp } from './api.ts'

/** Numbers and days in the language of the app. */
export function useFormat () {
  const { language } = useApp()
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 1 })
  return {
    number: (value: number) => number.format(value),
    /** @param date of a calendar, such as 2026-11-27 */
    day: (date: string) =>
      new Date(`${date}T12:00`).toLocaleDateString(language, { weekday: 'short', day: 'numeric', month: 'short' }),
    /** The time of a message, with its day if that is not today. @param time of the API, such as createdAt */
    moment: (time: string) => {
      const isToday = dayOf(new Date(time)) === dayOf(new Date())
      const day = isToday ? {} : { day: 'numeric', month: 'short' } as const
      return new Date(time).toLocaleString(language, { ...day, hour: '2-digit', minute: '2-digit' })
    },
    /** @param time of the API, such as createdAt */
    date: (time: string) =>
      new Date(time).toLocaleDateString(language, { day: 'numeric', month: 'long', year: 'numeric' })
  }
}

/** Such as 1 vote, 2 votes. */
export const countOf = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

export function timeAgo (date: string) {
  const seconds = (Date.now() - Date.parse(date)) / 1_000
  if (seconds < 60) return 'now'
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}

/** The day of the device, such as 2026-11-27. */
export function dayOf (date: Date) {
  const pad = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
}

/** The name of an id, such as trail_running, where the server sends no other. */
export const titleOf = (id: string) => `${id.charAt(0).toUpperCase()}${id.slice(1).replaceAll('_', ' ')}`
