import { createHash } from 'node:crypto'
import Type from 'typebox'
import { data, Enum, Nullable, Text, ValidationError, type Routes } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { CountryNotFound, RegionNotFound } from '../errors.ts'
import { findCountry, findEdition, findRegion, listCities, listCountries, listRegions } from './queries.ts'
import { PlaceId, placeNumber } from './schemas.ts'

const Country = Type.Object({
  id: Type.String(), code: Type.String(), name: Type.String(), flag: Type.String(), currency: Nullable(Type.String()), defaultTimezone: Type.String()
})
const Region = Type.Object({
  id: Type.String(), code: Nullable(Type.String()), name: Type.String(), nameLocal: Nullable(Type.String()), timezone: Type.String()
})
const City = Type.Object({
  id: Type.String(), name: Type.String(), nameLocal: Nullable(Type.String()), timezone: Type.String(), regionId: Nullable(Type.String())
})

export const placeRoutes: Routes<Deps> = async (app, { db }) => {
  app.get('/locations', {
    schema: {
      summary: 'List countries, the regions of one, or cities',
      description: 'Countries come with Indonesia first, cities with the largest first. A country may have no regions.',
      querystring: Type.Object({
        type: Enum(['countries', 'regions', 'cities'], { examples: ['regions'] }),
        countryId: Type.Optional(PlaceId),
        countryCode: Type.Optional(Text({ min: 2, max: 2, transform: ['trim', 'toUpperCase'], examples: ['ID'] })),
        regionId: Type.Optional(PlaceId)
      }),
      response: {
        200: Type.Object({ success: Type.Literal(true), data: Type.Union([Type.Array(Country), Type.Array(Region), Type.Array(City)]) }),
        304: Type.Null({ description: 'What If-None-Match names is still so' })
      }
    },
    config: { public: true }
  }, async ({ query, url, headers }, reply) => {
    // The places of the world change with the edition that is loaded, and never in between.
    const etag = `"${createHash('sha256').update(`${await findEdition(db)} ${url}`).digest('base64url').slice(0, 22)}"`
    const cached = { etag, 'cache-control': 'public, max-age=3600' }
    if (headers['if-none-match'] === etag) return await reply.headers(cached).code(304).send(null)
    const { countryId, regionId, ...rest } = query
    const places = await list({
      ...rest,
      ...(countryId !== undefined && { countryId: placeNumber(countryId) }),
      ...(regionId !== undefined && { regionId: placeNumber(regionId) })
    })
    // Not before: a refusal is nothing to keep.
    reply.headers(cached)
    // The queries select what the schema says. Serialised by it, each of 17,000 cities would be tried against three shapes.
    reply.serializer(JSON.stringify)
    return data(places)
  })

  async function list ({ type, countryId, countryCode, regionId }: { type: 'countries' | 'regions' | 'cities', countryId?: number, countryCode?: string, regionId?: number }) {
    if (type === 'countries') return await listCountries(db)
    if (type === 'cities' && regionId !== undefined && countryId === undefined && countryCode === undefined) {
      if (!await findRegion(db, regionId)) throw new RegionNotFound()
      return await listCities(db, { regionId })
    }
    if (countryId === undefined && countryCode === undefined) {
      throw new ValidationError(type === 'regions' ? 'countryId or countryCode is required' : 'countryId, countryCode or regionId is required')
    }
    const country = await findCountry(db, { id: countryId, code: countryCode })
    if (!country) throw new CountryNotFound()
    return type === 'regions' ? await listRegions(db, country.id) : await listCities(db, { countryId: country.id, regionId })
  }
}
