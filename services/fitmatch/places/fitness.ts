import type { Insertable } from 'kysely'
import type { Tables } from '../tables.ts'
import { findChain } from './chains.ts'
import { nameKeyOf } from './names.ts'
import type { SourceRecord } from './records.ts'

export type Place = Insertable<Tables['places']>

const overtureCategories = new Set([
  'gym',
  'gym_and_fitness_center',
  'fitness_center',
  'fitness_studio',
  'health_club',
  'sports_and_fitness_instruction',
  'fitness_trainer',
  'boot_camp',
  'yoga_studio',
  'pilates_studio',
  'barre_classes',
  'cycling_classes',
  'boxing_class',
  'boxing_gym',
  'boxing_club',
  'kickboxing_club',
  'martial_arts_club',
  'rock_climbing_gym',
  'climbing_gym',
  'climbing_class',
  'gymnastics_center',
  'swimming_pool',
  'sports_and_recreation_venue',
  'sports_club_and_league'
])
const openStreetMapTags = {
  leisure: new Set(['fitness_centre', 'fitness_station', 'sports_centre', 'sports_hall', 'swimming_pool']),
  amenity: new Set(['gym', 'dojo']),
  sport: new Set(['fitness', 'crossfit', 'yoga', 'pilates', 'climbing', 'boxing', 'weightlifting'])
}
const openStreetMapId = /^(node\/|way\/|relation\/|[nwra])?\d+$/
// Below it, Overture itself doubts that the place exists.
const MIN_CONFIDENCE = 0.5
const MAX_NAME = 200
const MAX_CITY = 100

/** The place that a record of Overture or OpenStreetMap describes; undefined if nobody trains there, or it has no name. */
export function toPlace (record: SourceRecord): Place | undefined {
  const { properties } = record
  const found = at(properties, 'names') === undefined ? fromTags(record) : fromOverture(record)
  const position = centreOf(at(record.geometry, 'coordinates'))
  if (!found?.id || !found.name || !position) return undefined
  const { source, name, city, wikidata, brand } = found
  return {
    id: found.id,
    source,
    name: name.slice(0, MAX_NAME),
    name_key: nameKeyOf(name.slice(0, MAX_NAME)),
    city: city?.slice(0, MAX_CITY) ?? null,
    chain_id: findChain({ wikidata, brand: brand ?? name }) ?? null,
    ...position
  }
}

function fromOverture ({ id, properties }: SourceRecord) {
  const confidence = at(properties, 'confidence')
  const isDoubtful = typeof confidence === 'number' && confidence < MIN_CONFIDENCE
  const isClosed = textAt(properties, 'operating_status') === 'permanently_closed'
  const category = textAt(properties, 'categories', 'primary') ?? textAt(properties, 'taxonomy', 'primary') ?? ''
  if (isDoubtful || isClosed || !overtureCategories.has(category)) return undefined
  return {
    source: 'OVERTURE' as const,
    id: idOf('overture', id ?? at(properties, 'id')),
    name: textAt(properties, 'names', 'primary'),
    city: textAt(properties, 'addresses', 0, 'locality'),
    wikidata: textAt(properties, 'brand', 'wikidata'),
    brand: textAt(properties, 'brand', 'names', 'primary')
  }
}

/** Tags as OpenStreetMap has them, with its ids or an operator's own. */
function fromTags ({ id, properties }: SourceRecord) {
  const tags = at(properties, 'tags') ?? properties
  const isFitness = Object.entries(openStreetMapTags).some(([key, values]) =>
    textAt(tags, key)?.split(';').some((value) => values.has(value.trim()))
  )
  if (!isFitness) return undefined
  const ownId = id ?? at(properties, '@id') ?? at(properties, 'feature_id')
  const isOpenStreetMap = typeof ownId === 'number' || openStreetMapId.test(String(ownId))
  return {
    source: isOpenStreetMap ? 'OPENSTREETMAP' as const : 'OWN' as const,
    id: idOf(isOpenStreetMap ? 'osm' : 'own', ownId),
    name: textAt(tags, 'name'),
    city: textAt(tags, 'addr:city'),
    wikidata: textAt(tags, 'brand:wikidata'),
    brand: textAt(tags, 'brand')
  }
}

const at = (value: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>(
    (inner, key) => typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[key] : undefined,
    value
  ) ?? undefined

function textAt (value: unknown, ...path: (string | number)[]) {
  const text = at(value, ...path)
  // Postgres stores no NUL.
  return typeof text === 'string' ? text.replace(/\p{Cc}/gu, ' ').trim() || undefined : undefined
}

const idOf = (source: string, id: unknown) =>
  typeof id === 'string' || typeof id === 'number' ? `${source}:${id}` : undefined

/** The middle of a geometry, whatever its shape. */
function centreOf (coordinates: unknown) {
  const positions = positionsIn(coordinates)
  if (positions.length === 0) return undefined
  const middle = (values: number[]) => (lowest(values) + highest(values)) / 2
  const longitude = middle(positions.map(([east]) => east))
  const latitude = middle(positions.map(([, north]) => north))
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? { latitude, longitude } : undefined
}

const lowest = (values: number[]) => values.reduce((one, other) => Math.min(one, other))
const highest = (values: number[]) => values.reduce((one, other) => Math.max(one, other))

function positionsIn (coordinates: unknown): [number, number][] {
  if (!Array.isArray(coordinates)) return []
  const [east, north] = coordinates as unknown[]
  return typeof east === 'number' && typeof north === 'number' ? [[east, north]] : coordinates.flatMap(positionsIn)
}
