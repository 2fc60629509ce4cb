import Type from 'typebox'
import { Data, data, Enum, named, NotModified, Nullable, Text, ValidationError, type Routes } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { findCaller } from '../people/queries.ts'
import { checkPosition, toDegrees } from '../position.ts'
import type { Db } from '../tables.ts'
import { listChains } from './chains.ts'
import { readSource, searchPlaces } from './queries.ts'

const MAX_RADIUS_KM = 50

const Chain = named(
  'GymChain',
  Type.Object({
    id: Type.String({ description: 'Used as chainId of venues' }),
    name: Type.String(),
    countries: Type.Array(Type.String(), { description: 'Two-letter codes, or `001` for the whole world' })
  }, { examples: [{ id: 'cleverfit', name: 'Clever fit', countries: ['AT', 'CH', 'DE'] }] })
)
const Gym = named(
  'Gym',
  Type.Object({
    placeId: Type.String({ description: 'Used as placeId of venues' }),
    name: Type.String(),
    city: Nullable(Type.String()),
    latitude: Type.Number(),
    longitude: Type.Number(),
    chainId: Nullable(Type.String())
  }, {
    examples: [{
      placeId: 'osm:node/1',
      name: 'Clever fit Mitte',
      city: 'Berlin',
      latitude: 52.5219,
      longitude: 13.4132,
      chainId: 'cleverfit'
    }]
  })
)

export const placeRoutes: Routes<Deps> = async (app, { db }) => {
  app.get('/venues/chains', {
    schema: {
      operationId: 'listGymChains',
      summary: 'List chains of gyms, by name',
      description: 'At most a few hundred, so there is only one page.',
      'x-extension': true,
      querystring: Type.Object({
        query: Type.Optional(Type.String({ maxLength: 100, description: 'Words of the name' })),
        country: Type.Optional(Text({ min: 2, max: 2, transform: ['trim', 'toUpperCase'], examples: ['DE'] }))
      }, { dropEmpty: ['country'] }),
      response: { 200: Data(Type.Object({ chains: Type.Array(Chain) })), 304: NotModified }
    }
  }, async ({ query }) => data({ chains: listChains(query) }))

  app.get('/venues/search', {
    schema: {
      operationId: 'searchGyms',
      summary: 'Find gyms nearby, nearest first',
      description: 'At most 20. Without a position, around that of your FitMatch profile. `source` is LIBRARY if an ' +
        'operator has imported places, and otherwise PEOPLE: gyms that at least three people have added, whose ' +
        'positions are rounded. Show `attribution` below the list.',
      'x-extension': true,
      querystring: Type.Object({
        query: Type.Optional(Type.String({ maxLength: 100, description: 'Words of the name' })),
        latitude: Type.Optional(Type.Number({ minimum: -90, maximum: 90 })),
        longitude: Type.Optional(Type.Number({ minimum: -180, maximum: 180 })),
        radiusKm: Type.Number({ minimum: 0.1, maximum: MAX_RADIUS_KM, default: 10 })
      }, { dropEmpty: ['latitude', 'longitude', 'radiusKm'] }),
      response: {
        200: Data(Type.Object({
          venues: Type.Array(Gym),
          source: Enum(['LIBRARY', 'PEOPLE']),
          attribution: Nullable(Type.String(), { examples: ['© OpenStreetMap contributors'] })
        }))
      }
    }
  }, async ({ query: { query = '', radiusKm, ...position }, account }) => {
    const venues = await searchPlaces(db, { query, radiusKm, ...await findCentre(db, account.id, position) })
    const source = await readSource(db)
    return data({ venues, source: source === 'PEOPLE' ? 'PEOPLE' : 'LIBRARY', attribution: attributions[source] })
  })
}

const attributions = {
  OVERTURE: '© OpenStreetMap contributors, Overture Maps Foundation',
  OPENSTREETMAP: '© OpenStreetMap contributors',
  OWN: null,
  PEOPLE: null
}

interface Position {
  latitude?: number | undefined
  longitude?: number | undefined
}

/** @throws ValidationError if there is neither a position nor a profile with one */
async function findCentre (db: Db, accountId: string, { latitude, longitude }: Position) {
  checkPosition({ latitude, longitude })
  if (latitude !== undefined && longitude !== undefined) return { latitude, longitude }
  const caller = await findCaller(db, accountId)
  const home = { latitude: toDegrees(caller?.latitude ?? null), longitude: toDegrees(caller?.longitude ?? null) }
  if (home.latitude === null || home.longitude === null) {
    throw new ValidationError('latitudeAndLongitudeAreRequired', ['latitude', 'longitude'])
  }
  return { latitude: home.latitude, longitude: home.longitude }
}
