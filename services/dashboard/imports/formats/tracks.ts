import { encodeRoute } from '../../log-types/ways.ts'
import { importedBy, sportOf, type Entry } from './entries.ts'
import { createXmlReader, type Attributes } from './xml.ts'

interface Point {
  position: [number, number] | undefined
  at: string | undefined
  heartRate: number | undefined
}

interface Workout {
  line: number
  title?: string
  sport?: string
  startAt?: string
  seconds: number
  calories: number
  meters: number
  points: Point[]
}

const newPoint = (position?: [number, number]): Point => ({ position, at: undefined, heartRate: undefined })
const newWorkout = (line: number): Workout => ({ line, seconds: 0, calories: 0, meters: 0, points: [] })

const numberOf = (text: string | undefined) => Number(text)
const positionOf = ({ lat, lon }: Attributes): [number, number] => [numberOf(lat), numberOf(lon)]

/** Tracks of GPX, each a workout. */
export function readGpx (file: Buffer): Entry[] {
  const workouts: Workout[] = []
  let isInTrack = false
  const xml = createXmlReader({
    onOpen (name, attributes) {
      if (name === 'trk') {
        workouts.push(newWorkout(xml.line))
        isInTrack = true
      }
      if (name === 'trkpt') workouts.at(-1)?.points.push(newPoint(positionOf(attributes)))
    },
    onClose (name, text) {
      const workout = workouts.at(-1)
      const point = workout?.points.at(-1)
      if (name === 'trk') isInTrack = false
      if (!isInTrack || !workout) return
      if (name === 'time' && point) point.at = text
      else if (name === 'hr' && point) point.heartRate = numberOf(text)
      else if (name === 'name' && text) workout.title = text.slice(0, 100)
      else if (name === 'type' && text) workout.sport = text
    }
  })
  xml.write(file.toString('utf8'))
  xml.close()
  return workouts.map((workout) => toEntry('GPX', workout))
}

/** Activities of TCX. */
export function readTcx (file: Buffer): Entry[] {
  const workouts: Workout[] = []
  const path: string[] = []
  let position: Partial<{ latitude: number, longitude: number }> = {}
  const xml = createXmlReader({
    onOpen (name, attributes) {
      path.push(name)
      if (name === 'Activity') {
        workouts.push({ ...newWorkout(xml.line), sport: attributes['Sport'] ?? '' })
      }
      const workout = workouts.at(-1)
      if (name === 'Lap' && workout && attributes['StartTime']) workout.startAt ??= attributes['StartTime']
      if (name === 'Trackpoint') workout?.points.push(newPoint())
    },
    onClose (name, text) {
      path.pop()
      const parent = path.at(-1)
      const workout = workouts.at(-1)
      const point = workout?.points.at(-1)
      if (!workout) return
      if (parent === 'Lap' && name === 'TotalTimeSeconds') workout.seconds += numberOf(text)
      if (parent === 'Lap' && name === 'Calories') workout.calories += numberOf(text)
      if (parent === 'Lap' && name === 'DistanceMeters') workout.meters += numberOf(text)
      if (parent === 'Activity' && name === 'Notes') workout.title = text.slice(0, 100)
      if (!point) return
      if (parent === 'Trackpoint' && name === 'Time') point.at = text
      if (name === 'LatitudeDegrees') position = { latitude: numberOf(text) }
      if (name === 'LongitudeDegrees') position.longitude = numberOf(text)
      const { latitude, longitude } = position
      if (name === 'Position' && latitude !== undefined && longitude !== undefined) {
        point.position = [latitude, longitude]
      }
      if (parent === 'HeartRateBpm' && name === 'Value') point.heartRate = numberOf(text)
    }
  })
  xml.write(file.toString('utf8'))
  xml.close()
  return workouts.map((workout) => toEntry('TCX', workout))
}

function toEntry (app: string, { line, points, seconds, calories, meters, ...workout }: Workout): Entry {
  const times = points.map(({ at }) => at).filter((at) => at !== undefined)
  const startAt = workout.startAt ?? times[0]
  const endAt = times.at(-1)
  const way = points.map(({ position }) => position).filter((position) => position !== undefined)
  const rates = points.map(({ heartRate }) => heartRate).filter((rate) => rate !== undefined)
  return {
    line,
    count: 1,
    item: {
      type: 'WORKOUT',
      source: importedBy(app),
      externalId: `${app} ${startAt}`,
      ...(startAt !== undefined && { startAt }),
      ...(endAt !== undefined && { endAt }),
      data: {
        ...(seconds > 0 && { durationMinutes: Math.max(1, seconds / 60) }),
        ...(workout.title && { title: workout.title }),
        ...sportOf(workout.sport ?? ''),
        ...(calories > 0 && { calories }),
        ...(meters > 0 && { distanceMeters: meters }),
        ...heartRatesOf(rates),
        ...routeOf(way)
      }
    }
  }
}

/** The average and the highest of heart rates. */
export function heartRatesOf (rates: number[]) {
  if (rates.length === 0) return {}
  const sum = rates.reduce((total, rate) => total + rate, 0)
  return {
    avgHeartRate: Math.round(sum / rates.length),
    maxHeartRate: rates.reduce((max, rate) => Math.max(max, rate), 0)
  }
}

const MAX_POINTS = 10_000

/** A way of at most 10,000 points: of more, every second, third and so on. */
export function routeOf (points: [number, number][]) {
  const valid = points.filter(([latitude, longitude]) => Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)
  if (valid.length < 2) return {}
  const step = Math.ceil(valid.length / MAX_POINTS)
  return { route: encodeRoute(valid.filter((_, index) => index % step === 0)) }
}
