import { createHash } from 'node:crypto'
import Type from 'typebox'
import { Data, Enum, Nullable, Text, ValidationError, type Routes } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { CountryNotFound, RegionNotFound } from '../errors.ts'
import { serializePlaces, gzipped, createAnswerCache } from './kept.ts'
import { findCountry, findRegion, listCities, listCountries, listRegions, readEdition } from './queries.ts'
import { PlaceId, placeNumber } from './schemas.ts'

const Country = Type.Object({
  id: Type.String(), code: Type.String(), name: Type.String(), flag: Type.String(), currency: Nullable(Type.String()), defaultTimezone: Type.String()
}, { examples: [{ id: '102', code: 'ID', name: 'Indonesia', flag: '🇮🇩', currency: 'IDR', defaultTimezone: 'Asia/Jakarta' }] })
const Region = Type.Object({
  id: Type.String(), code: Nullable(Type.String()), name: Type.String(), nameLocal: Nullable(Type.String()), timezone: Type.String()
}, { examples: [{ id: '1826', code: 'BA', name: 'Bali', nameLocal: 'Bali', timezone: 'Asia/Makassar' }] })
const City = Type.Object({
  id: Type.String(), name: Type.String(), nameLocal: Nullable(Type.String()), timezone: Type.String(), regionId: Nullable(Type.String())
}, { examples: [{ id: '56263', name: 'Denpasar', nameLocal: null, timezone: 'Asia/Makassar', regionId: '1826' }] })

export const placeRoutes: Routes<Deps> = async (app, { db }) => {
  const kept = createAnswerCache()

  app.get('/locations', {
    schema: {
      summary: 'List countries, the regions of one, or cities',
      description: '503 SERVICE_UNAVAILABLE while the places are being loaded, after the first start. Countries come with Indonesia first, cities with the largest first. A country may have no regions.',
      querystring: Type.Object({
        type: Enum(['countries', 'regions', 'cities'], { examples: ['regions'] }),
        countryId: Type.Optional(PlaceId),
        countryCode: Type.Optional(Text({ min: 2, max: 2, transform: ['trim', 'toUpperCase'], examples: ['ID'] })),
        regionId: Type.Optional(PlaceId)
        // What a client has no value for, it often sends as nothing.
      }, { dropEmpty: ['countryId', 'countryCode', 'regionId'] }),
      response: {
        // Sent as it was kept.
        200: Type.Unsafe<Buffer>(Data(Type.Union([Type.Array(Country), Type.Array(Region), Type.Array(City)]))),
        304: Type.Null({ description: 'What If-None-Match names is still so' })
      }
    },
    config: { public: true }
  }, async ({ query, url, headers }, reply) => {
    // The places of the world change with the edition that is loaded, and never in between.
    const edition = await readEdition(db)
    const etag = `"${createHash('sha256').update(`${edition} ${url}`).digest('base64url').slice(0, 22)}"`
    const compresses = takesGzip(headers['accept-encoding'])
    const cached = { 'etag': compresses ? etag.replace(/"$/, `${GZIPPED}"`) : etag, 'cache-control': 'public, max-age=3600', 'vary': 'accept-encoding' }
    if (names(headers['if-none-match'], etag)) return await reply.headers(cached).code(304).send(null)
    const { countryId, regionId, ...rest } = query
    const places = await list(edition, {
      ...rest,
      ...(countryId !== undefined && { countryId: placeNumber(countryId) }),
      ...(regionId !== undefined && { regionId: placeNumber(regionId) })
    })
    // Not before: a refusal is nothing to keep.
    reply.headers(cached).type('application/json; charset=utf-8')
    return compresses ? await reply.header('content-encoding', 'gzip').send(await gzipped(places)) : await reply.send(places)
  })

  async function list (edition: string, { type, countryId, countryCode, regionId }: { type: 'countries' | 'regions' | 'cities', countryId?: number, countryCode?: string, regionId?: number }) {
    if (type === 'countries') return await kept(edition, type, async () => await listCountries(db))
    const saysCountry = countryId !== undefined || countryCode !== undefined
    const country = saysCountry ? await findCountry(db, { id: countryId, code: countryCode }) : undefined
    if (saysCountry && !country) throw new CountryNotFound()
    if (type === 'cities' && regionId !== undefined) {
      const region = await findRegion(db, regionId)
      if (!region || (country && region.countryId !== country.id)) throw new RegionNotFound()
      return serializePlaces(await listCities(db, { regionId }))
    }
    if (!country) throw new ValidationError(type === 'regions' ? 'countryId or countryCode is required' : 'countryId, countryCode or regionId is required')
    return await kept(edition, `${type} ${country.id}`, async () =>
      type === 'regions' ? await listRegions(db, country.id) : await listCities(db, { countryId: country.id }))
  }
}

// The same places, but other bytes, so another tag.
const GZIPPED = '-gzip'

/** Whether If-None-Match names `etag`; what stands between may have made it a weak one, or added others. */
const names = (header: string | undefined, etag: string) =>
  header?.split(',').some((each) => each.trim().replace(/^W\//, '').replace(`${GZIPPED}"`, '"') === etag) ?? false

/** Whether Accept-Encoding says that gzip may be sent. */
const takesGzip = (header: string | undefined) =>
  header?.split(',').some((each) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(each)) ?? false
