import { createHash } from 'node:crypto'
import Type from 'typebox'
import {
  Data,
  Enum,
  matchesEtag,
  named,
  NotModified,
  Nullable,
  Text,
  ValidationError,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { CountryNotFound, RegionNotFound, PlacesLoading } from '../errors.ts'
import { serializePlaces, gzipOnce, createResponseCache } from './response-cache.ts'
import { findCountry, findRegion, listCities, listCountries, listRegions, readEdition } from './queries.ts'
import { PlaceId, placeNumber } from './schemas.ts'

const Country = named(
  'Country',
  Type.Object({
    id: Type.String(),
    code: Type.String(),
    name: Type.String(),
    flag: Type.String(),
    currency: Nullable(Type.String()),
    defaultTimezone: Type.String()
  }, {
    examples: [{
      id: '102',
      code: 'ID',
      name: 'Indonesia',
      flag: '🇮🇩',
      currency: 'IDR',
      defaultTimezone: 'Asia/Jakarta'
    }]
  })
)
const Region = named(
  'Region',
  Type.Object({
    id: Type.String(),
    code: Nullable(Type.String()),
    name: Type.String(),
    nameLocal: Nullable(Type.String()),
    timezone: Type.String()
  }, { examples: [{ id: '1826', code: 'BA', name: 'Bali', nameLocal: 'Bali', timezone: 'Asia/Makassar' }] })
)
const City = named(
  'City',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    nameLocal: Nullable(Type.String()),
    timezone: Type.String(),
    regionId: Nullable(Type.String())
  }, { examples: [{ id: '56263', name: 'Denpasar', nameLocal: null, timezone: 'Asia/Makassar', regionId: '1826' }] })
)

export const placeRoutes: Routes<Deps> = async (app, { db }) => {
  const cachedResponse = createResponseCache()

  app.get('/locations', {
    schema: {
      operationId: 'listLocations',
      summary: 'List countries, the regions of one, or cities',
      description: 'Countries start with Indonesia, cities with the largest. A country may have no regions. ' +
        'After the first start, the service is unavailable until the places are loaded.',
      querystring: Type.Object({
        type: Enum(['countries', 'regions', 'cities'], { examples: ['regions'] }),
        countryId: Type.Optional(PlaceId),
        countryCode: Type.Optional(Text({ min: 2, max: 2, transform: ['trim', 'toUpperCase'], examples: ['ID'] })),
        regionId: Type.Optional(PlaceId)
        // Clients often send an empty string for a missing value.
      }, { dropEmpty: ['countryId', 'countryCode', 'regionId'] }),
      errors: [CountryNotFound, RegionNotFound, PlacesLoading],
      response: {
        // Sent as the serialized buffer from the cache.
        200: Type.Unsafe<Buffer>(Data(Type.Union([Type.Array(Country), Type.Array(Region), Type.Array(City)]))),
        304: NotModified
      }
    },
    config: { public: true }
  }, async ({ query, url, headers }, reply) => {
    // The places change only when another edition is loaded.
    const edition = await readEdition(db)
    const etag = `"${createHash('sha256').update(`${edition} ${url}`).digest('base64url').slice(0, 22)}"`
    const compresses = acceptsGzip(headers['accept-encoding'])
    const cacheHeaders = {
      'etag': compresses ? etag.replace(/"$/, `${GZIP_SUFFIX}"`) : etag,
      'cache-control': 'public, max-age=3600',
      'vary': 'accept-encoding'
    }
    if (matchesEtag(headers['if-none-match']?.replaceAll(`${GZIP_SUFFIX}"`, '"'), etag)) {
      return await reply.headers(cacheHeaders).code(304).send(null)
    }
    const { countryId, regionId, ...rest } = query
    const places = await list(edition, {
      ...rest,
      ...(countryId !== undefined && { countryId: placeNumber(countryId) }),
      ...(regionId !== undefined && { regionId: placeNumber(regionId) })
    })
    // Set only now: errors must not be cached.
    reply.headers(cacheHeaders).type('application/json; charset=utf-8')
    return compresses
      ? await reply.header('content-encoding', 'gzip').send(await gzipOnce(places))
      : await reply.send(places)
  })

  async function list (
    edition: string,
    { type, countryId, countryCode, regionId }: {
      type: 'countries' | 'regions' | 'cities',
      countryId?: number,
      countryCode?: string,
      regionId?: number
    }
  ) {
    if (type === 'countries') return await cachedResponse(edition, type, async () => await listCountries(db))
    const hasCountry = countryId !== undefined || countryCode !== undefined
    const country = hasCountry ? await findCountry(db, { id: countryId, code: countryCode }) : undefined
    if (hasCountry && !country) throw new CountryNotFound()
    if (type === 'cities' && regionId !== undefined) {
      const region = await findRegion(db, regionId)
      if (!region || (country && region.countryId !== country.id)) throw new RegionNotFound()
      return serializePlaces(await listCities(db, { regionId }))
    }
    if (!country) {
      throw type === 'regions'
        ? new ValidationError('countryIsRequired', ['countryId', 'countryCode'])
        : new ValidationError('countryOrRegionIsRequired', ['countryId', 'countryCode', 'regionId'])
    }
    return await cachedResponse(
      edition,
      `${type} ${country.id}`,
      async () =>
        type === 'regions' ? await listRegions(db, country.id) : await listCities(db, { countryId: country.id })
    )
  }
}

// The compressed response has other bytes, so it needs another ETag.
const GZIP_SUFFIX = '-gzip'

/** Whether Accept-Encoding allows gzip. */
const acceptsGzip = (header: string | undefined) =>
  header?.split(',').some((each) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(each)) ?? false
