import Type from 'typebox'
import { readLimits } from '@tandem/brand-kit'
import { IdempotencyConflict } from '@tandem/database-kit'
import {
  Body,
  Data,
  data,
  Id,
  readIdempotencyKey,
  Message,
  message,
  IdempotencyHeaders,
  Text,
  ValidationError,
  type Routes
} from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { ProfileMissing, TooManyVenues, VenueNotFound } from '../errors.ts'
import { readCaller } from '../people/queries.ts'
import { addVenue, updateVenue, deleteVenue, reorderVenues } from './actions.ts'
import { listVenues } from './queries.ts'
import { Venue } from './schemas.ts'

const Venues = Data(Type.Object({ venues: Type.Array(Venue), maxVenues: Type.Integer() }))
const latitude = Type.Optional(Type.Number({ minimum: -90, maximum: 90 }))
const longitude = Type.Optional(Type.Number({ minimum: -180, maximum: 180 }))
const text = (max: number) => Type.Optional(Text({ min: 0, max }))

export const venueRoutes: Routes<Deps> = async (app, { db }) => {
  const { fitmatchVenues } = readLimits()
  app.get(
    '/fitmatch/profile/venues',
    {
      schema: {
        operationId: 'listVenues',
        summary: 'List my venues',
        description: 'The places where I train, in my order.',
        errors: [ProfileMissing],
        response: { 200: Venues }
      }
    },
    async ({ account }) =>
      data({ venues: await listVenues(db, (await readCaller(db, account.id)).id), maxVenues: fitmatchVenues })
  )

  app.post('/fitmatch/profile/venues', {
    schema: {
      operationId: 'addVenue',
      summary: 'Add a venue where I train',
      description:
        'A custom venue needs only a name and `isCustom`. `chainId` is a chain of `GET /venues/chains`. With ' +
        'the `placeId` of `GET /venues/search`, the name, city, chain and position are those of that gym, unless ' +
        '`isCustom` is true. At most 5 venues.',
      headers: IdempotencyHeaders,
      body: Body({
        chainId: text(100),
        name: Text({ max: 200 }),
        branch: text(200),
        city: text(100),
        latitude,
        longitude,
        placeId: text(300),
        isCustom: Type.Optional(Type.Boolean())
      }, {
        examples: [{
          chainId: 'celebrityfitness',
          name: 'Gelora',
          branch: 'South',
          city: 'Jakarta',
          latitude: -6.2186,
          longitude: 106.8018,
          placeId: 'p1',
          isCustom: false
        }]
      }),
      errors: [ProfileMissing, TooManyVenues, IdempotencyConflict],
      response: { 201: Data(Type.Object({ venue: Venue })) }
    }
  }, async (request, reply) => {
    const venue = await addVenue(db, request.account.id, request.body, readIdempotencyKey(request))
    return reply.code(201).send(data({ venue }))
  })

  app.put('/fitmatch/profile/venues', {
    schema: {
      operationId: 'updateVenues',
      summary: 'Reorder my venues, or update one',
      description:
        'With `venueIds`, the order changes. With `id`, that venue changes. A gym of `GET /venues/search` with ' +
        'another name or position becomes a custom venue.',
      body: Body({
        venueIds: Type.Optional(Type.Array(Id, { maxItems: fitmatchVenues, description: 'Each of my venues, once' })),
        id: Type.Optional(Id),
        name: Type.Optional(Text({ max: 200 })),
        branch: text(200),
        latitude,
        longitude
      }, {
        examples: [{
          id: '019aa1f0-0000-7000-8000-000000000002',
          name: 'Gelora',
          branch: 'North',
          latitude: -6.2186,
          longitude: 106.8018
        }]
      }),
      errors: [ProfileMissing, VenueNotFound],
      response: { 200: Venues }
    }
  }, async ({ body: { venueIds, id, ...changes }, account }) => {
    if (venueIds === undefined && id === undefined) {
      throw new ValidationError('venueIdsOrIdIsRequired', ['venueIds', 'id'])
    }
    const venues = venueIds !== undefined
      ? await reorderVenues(db, account.id, venueIds)
      : await updateVenue(db, account.id, { id: id ?? '', ...changes })
    return data({ venues, maxVenues: fitmatchVenues })
  })

  app.delete('/fitmatch/profile/venues', {
    schema: {
      operationId: 'deleteVenue',
      summary: 'Delete a venue',
      description: 'The other venues keep their order.',
      querystring: Type.Object({ id: Id }),
      errors: [ProfileMissing, VenueNotFound],
      response: { 200: Message }
    }
  }, async ({ query, account }) => {
    await deleteVenue(db, account.id, query.id)
    return message('Venue deleted')
  })
}
