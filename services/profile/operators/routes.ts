import { sql } from 'kysely'
import Type from 'typebox'
import { isMediaKey } from '@tandem/media-url-kit'
import { Data, data, Id, Nullable, Text, type Routes } from '@tandem/http-kit'
import { forOperators } from '@tandem/operator-kit'
import type { Deps } from '../deps.ts'
import { PersonNotFound } from '../errors.ts'

const Person = Type.Object({
  name: Type.String(),
  username: Type.String(),
  image: Nullable(Type.String()),
  age: Nullable(Type.Integer()),
  city: Nullable(Type.String())
})

/** What operators see of a person here: how they appear, and nothing of their body or their place. */
export const personOperatorRoutes: Routes<Deps> = async (app, { db, media }) => {
  app.get('/operator/people/:id', {
    config: forOperators('people.read', { person: 'id' }),
    schema: {
      hide: true,
      params: Type.Object({ id: Id }),
      querystring: Type.Object({ reason: Text({ min: 3, max: 500 }) }),
      response: { 200: Data(Type.Object({ person: Person })) }
    }
  }, async ({ params }) => {
    const person = await db.selectFrom('people').leftJoin('cities', 'cities.id', 'people.city_id')
      .where('account_id', '=', params.id)
      .select([
        'people.name',
        'username',
        'image',
        sql<number | null>`extract(year from age(birth_date))::int`.as('age'),
        'cities.name as city'
      ])
      .executeTakeFirst()
    if (!person) throw new PersonNotFound()
    return data({ person })
  })
  app.get('/operator/people/:id/picture', {
    config: forOperators('people.read', { person: 'id' }),
    schema: {
      hide: true,
      params: Type.Object({ id: Id }),
      querystring: Type.Object({ reason: Text({ min: 3, max: 500 }) })
    }
  }, async ({ params }, reply) => {
    const person = await db.selectFrom('people').where('account_id', '=', params.id).select('image').executeTakeFirst()
    // An address of another server is never loaded.
    const key = isMediaKey(person?.image ?? '') ? person?.image : undefined
    const picture = key ? await media.find(key) : undefined
    if (!picture) throw new PersonNotFound()
    return reply.type('image/webp').header('cache-control', 'no-store').send(picture)
  })
}
