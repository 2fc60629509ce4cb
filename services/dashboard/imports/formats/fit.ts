import FitParser from 'fit-file-parser'
import { HostileFile, importedBy, sportOf, type Entry } from './entries.ts'
import { heartRatesOf, routeOf } from './tracks.ts'

// A triathlon has five. Each goes through all records.
const MAX_SESSIONS = 100

/** Sessions of a FIT file, as watches and bike computers write it. */
export async function readFit (file: Buffer): Promise<Entry[]> {
  const parser = new FitParser({
    mode: 'list',
    force: false,
    lengthUnit: 'm',
    speedUnit: 'm/s',
    elapsedRecordField: false
  })
  const { sessions = [], records = [], file_ids: [id] = [] } = await parser.parseAsync(file as Buffer<ArrayBuffer>)
    .catch((error: unknown) => {
      throw new HostileFile(error instanceof Error ? error.message : String(error))
    })
  if (sessions.length > MAX_SESSIONS) throw new HostileFile('The file has too many sessions')
  const device = [id?.manufacturer, id?.product].filter((name) => name !== undefined).join(' ')
  return sessions.map((session, index) => {
    const start = session.start_time
    if (!start) throw new HostileFile('A session has no start')
    const end = new Date(start.getTime() + (session.total_elapsed_time ?? session.total_timer_time ?? 0) * 1_000)
    const own = records.filter(({ timestamp }) => timestamp && timestamp >= start && timestamp <= end)
    const rates = own.map((record) => record.heart_rate).filter((rate) => rate !== undefined)
    const seconds = session.total_timer_time ?? session.total_elapsed_time
    return {
      line: index + 1,
      count: 1,
      item: {
        type: 'WORKOUT' as const,
        source: importedBy('FIT', { kind: 'WATCH', ...(device && { device: device.slice(0, 100) }) }),
        externalId: `FIT ${start.toISOString()}`,
        startAt: start.toISOString(),
        endAt: end.toISOString(),
        data: {
          ...(seconds !== undefined && { durationMinutes: Math.max(1, seconds / 60) }),
          ...(typeof session.sport === 'string' && sportOf(session.sport)),
          ...(session.total_calories && { calories: session.total_calories }),
          ...(session.total_distance && { distanceMeters: session.total_distance }),
          ...heartRatesOf(rates),
          ...(session.avg_heart_rate && { avgHeartRate: session.avg_heart_rate }),
          ...(session.max_heart_rate && { maxHeartRate: session.max_heart_rate }),
          ...routeOf(
            own.map((record): [number, number] => [record.position_lat ?? NaN, record.position_long ?? NaN])
          )
        }
      }
    }
  })
}
