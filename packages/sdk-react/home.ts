import type { NewLog } from '@tandem/sdk'
import { useQuery } from '@tanstack/react-query'
import { keys } from './keys.ts'
import { useOutbox, useTandem } from './provider.ts'
import { useWaiting } from './waiting.ts'

/** The home screen, and how many logs wait to be sent. */
export function useHome () {
  const tandem = useTandem()
  const query = useQuery({
    queryKey: keys.home,
    queryFn: async ({ signal }) => (await tandem.getHome({ signal })).data
  })
  return {
    home: query.data,
    query,
    waitingLogs: useWaiting().filter(({ operation }) => operation === 'saveLogs').length
  }
}

type Without<Log, Name extends PropertyKey> = Log extends unknown ? Omit<Log, Name> : never

/** A log without what the hook fills in. */
export type LogEntry = Without<NewLog, 'clientId' | 'at'>

/** Logs a meal, water, a workout, sleep or a weight now: stored at once, sent when the server can be reached. */
export function useLog () {
  const outbox = useOutbox()
  return async (entry: LogEntry) => {
    const item = { ...entry, clientId: `${Date.now()}-${Math.random()}`, at: localTime(new Date()) }
    await outbox().add('saveLogs', { body: { items: [item as NewLog] } }, 'logs')
  }
}

/** With the offset of the place, which decides the day of a log. */
function localTime (date: Date) {
  const offset = -date.getTimezoneOffset()
  const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, -1)
  const pad = (value: number) => String(Math.trunc(Math.abs(value))).padStart(2, '0')
  return `${local}${offset < 0 ? '-' : '+'}${pad(offset / 60)}:${pad(offset % 60)}`
}
