import t from 'tap'
import { Type } from 'typebox'
import { data } from './envelope.ts'
import { Data, Enum, Nullable, Timestamp } from './schemas.ts'
import { bearer, testServer } from './testing.ts'

const Place = Type.Object({ name: Type.String(), floor: Nullable(Type.Integer()) })

const Fields = {
  text: Nullable(Type.String()),
  mood: Nullable(Enum(['GOOD', 'BAD'])),
  count: Nullable(Type.Integer()),
  isOpen: Nullable(Type.Boolean()),
  at: Nullable(Timestamp),
  place: Nullable(Place),
  places: Nullable(Type.Array(Nullable(Place))),
  counts: Nullable(Type.Record(Type.String(), Nullable(Type.Integer())))
}

const full = {
  text: 'Run',
  mood: 'GOOD',
  count: 0,
  isOpen: false,
  at: '2026-03-14T07:30:00.000Z',
  place: { name: 'Gym', floor: null },
  places: [null, { name: 'Park', floor: 2 }],
  counts: { run: 3, swim: null }
}

const empty = Object.fromEntries(Object.keys(full).map((field) => [field, null]))

async function send (fields: object) {
  const app = await testServer(t, async (app) => {
    const response = { 200: Data(Type.Object({ ...Fields, notes: Type.Optional(Nullable(Type.String())) })) }
    // The values are those of a database, which knows no schema.
    app.get('/fields', { schema: { response } }, async () => data(fields as never))
  })
  return await app.inject({ url: '/fields', headers: bearer('ana') })
}

t.test('what may be null is sent as null or as its value, at every depth', async (t) => {
  t.strictSame((await send(full)).json().data, full)
  t.strictSame((await send({ ...full, at: new Date(full.at) })).json().data, full)
  t.strictSame((await send(empty)).json().data, empty)
  t.strictSame((await send({ ...empty, notes: null })).json().data, { ...empty, notes: null })
})

t.test('undeclared fields of an object that may be null are dropped', async (t) => {
  const response = await send({ ...empty, place: { ...full.place, owner: 'ben' }, email: 'ana@example.com' })
  t.strictSame(response.json().data, { ...empty, place: full.place })
})

t.test('a response without a required field is an error of the server', async (t) => {
  const { text, ...others } = full
  t.equal((await send(others)).statusCode, 500)
})
