import t from 'tap'
import Type from 'typebox'
import { compareFields, type Rule } from './compare.ts'
import { listFields } from './fields.ts'
import { print } from './print.ts'

const Id = Type.String({ format: 'uuid' })
const Nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
const object = (properties: Record<string, Type.TSchema>) => Type.Object(properties)
const rules = ['exact', 'request', 'response'] as const

type Case = [change: string, before: Type.TSchema, after: Type.TSchema, reported: Partial<Record<Rule, string[]>>]

const cases: Case[] = [
  [
    'nothing',
    object({ a: Id, b: Type.Optional(Type.Array(Type.Number())) }),
    object({ b: Type.Optional(Type.Array(Type.Number())), a: Id }),
    {}
  ],
  [
    'another description',
    object({ a: Type.String({ description: 'A name' }) }),
    object({ a: Type.String({ description: 'The name' }) }),
    {}
  ],
  ['a new optional field', object({}), object({ a: Type.Optional(Id) }), {}],
  ['a new optional field with required ones in it', object({}), object({ a: Type.Optional(object({ b: Id })) }), {}],
  ['a new required field', object({}), object({ a: Id }), {
    exact: ['the field "a" is new and required'],
    request: ['the field "a" is new and required']
  }],
  ['a new required field in an older one', object({ a: object({}) }), object({ a: object({ b: Id }) }), {
    exact: ['the field "a.b" is new and required'],
    request: ['the field "a.b" is new and required']
  }],
  ['a dropped field', object({ a: Id, b: Id }), object({ a: Id }), all('the field "b" is gone')],
  ['a dropped optional field', object({ a: Type.Optional(Id) }), object({}), all('the field "a" is gone')],
  [
    'a dropped field of the elements of a list',
    Type.Array(object({ a: Id })),
    Type.Array(object({})),
    all('the field "[].a" is gone')
  ],
  [
    'a dropped object, which is one line',
    object({ a: object({ b: Id, c: Id }) }),
    object({}),
    all('the field "a" is gone')
  ],
  ['a renamed field', object({ name: Id }), object({ title: Id }), {
    exact: ['the field "name" is gone', 'the field "title" is new and required'],
    request: ['the field "name" is gone', 'the field "title" is new and required'],
    response: ['the field "name" is gone']
  }],
  ['another type', object({ a: Type.String() }), object({ a: Type.Integer() }), {
    exact: ['"a" was string and is now integer'],
    request: ['"a" no longer accepts string'],
    response: ['"a" was string and is now integer']
  }],
  [
    'another type of the elements of a list',
    object({ a: Type.Array(Type.String()) }),
    object({ a: Type.Array(Type.Integer()) }),
    {
      exact: ['"a[]" was string and is now integer'],
      request: ['"a[]" no longer accepts string'],
      response: ['"a[]" was string and is now integer']
    }
  ],
  ['a narrower type', object({ a: Type.Number() }), object({ a: Type.Integer() }), {
    exact: ['"a" was number and is now integer'],
    request: ['"a" no longer accepts number']
  }],
  ['a wider type', object({ a: Type.Integer() }), object({ a: Type.Number() }), {
    exact: ['"a" was integer and is now number'],
    response: ['"a" was integer and is now number']
  }],
  ['a format', object({ a: Type.String() }), object({ a: Id }), {
    exact: ['"a" was string and is now string(uuid)'],
    request: ['"a" no longer accepts string']
  }],
  ['no format any more', object({ a: Id }), object({ a: Type.String() }), {
    exact: ['"a" was string(uuid) and is now string'],
    response: ['"a" was string(uuid) and is now string']
  }],
  ['null allowed', object({ a: Id }), object({ a: Nullable(Id) }), {
    exact: ['"a" was string(uuid) and is now null | string(uuid)'],
    response: ['"a" was string(uuid) and is now null | string(uuid)']
  }],
  ['null no longer allowed', object({ a: Nullable(Id) }), object({ a: Id }), {
    exact: ['"a" was null | string(uuid) and is now string(uuid)'],
    request: ['"a" no longer accepts null']
  }],
  ['null for the whole message', object({ a: Id }), Nullable(object({ a: Id })), {
    exact: ['the whole was object and is now null | object'],
    response: ['the whole was object and is now null | object']
  }],
  ['a field made optional', object({ a: Id }), object({ a: Type.Optional(Id) }), {
    exact: ['"a" was string(uuid) and is now optional string(uuid)'],
    response: ['"a" may now be missing']
  }],
  ['a field made required', object({ a: Type.Optional(Id) }), object({ a: Id }), {
    exact: ['"a" was optional string(uuid) and is now string(uuid)'],
    request: ['"a" was optional and is now required']
  }],
  ['a new value of an enumeration', object({ a: Type.Enum(['X']) }), object({ a: Type.Enum(['X', 'Y']) }), {
    exact: ['"a" was "X" and is now "X" | "Y"']
  }],
  ['a removed value of an enumeration', object({ a: Type.Enum(['X', 'Y']) }), object({ a: Type.Enum(['X']) }), {
    exact: ['"a" was "X" | "Y" and is now "X"'],
    request: ['"a" no longer accepts "Y"']
  }],
  ['another value of an enumeration', object({ a: Type.Enum(['X', 'Y']) }), object({ a: Type.Enum(['X', 'Z']) }), {
    exact: ['"a" was "X" | "Y" and is now "X" | "Z"'],
    request: ['"a" no longer accepts "Y"'],
    response: ['"a" was "X" | "Y" and is now "X" | "Z"']
  }],
  ['any text for an enumeration', object({ a: Type.Enum(['X']) }), object({ a: Type.String() }), {
    exact: ['"a" was "X" and is now string'],
    response: ['"a" was "X" and is now string']
  }],
  ['an enumeration for a number', object({ a: Type.Integer() }), object({ a: Type.Enum(['X']) }), {
    exact: ['"a" was integer and is now "X"'],
    request: ['"a" no longer accepts integer'],
    response: ['"a" was integer and is now "X"']
  }],
  ['any number for a constant', object({ a: Type.Literal(5) }), object({ a: Type.Integer() }), {
    exact: ['"a" was 5 and is now integer'],
    response: ['"a" was 5 and is now integer']
  }],
  ['another value of a constant', object({ a: Type.Literal(true) }), object({ a: Type.Boolean() }), {
    exact: ['"a" was true and is now boolean'],
    response: ['"a" was true and is now boolean']
  }],
  ['a lower maximum', object({ a: Type.Integer({ maximum: 9 }) }), object({ a: Type.Integer({ maximum: 5 }) }), {
    exact: ['"a" was integer (maximum 9) and is now integer (maximum 5)'],
    request: ['"a" now accepts maximum 5 only']
  }],
  ['a higher maximum', object({ a: Type.String({ maxLength: 5 }) }), object({ a: Type.String({ maxLength: 9 }) }), {
    exact: ['"a" was string (maxLength 5) and is now string (maxLength 9)']
  }],
  ['a new minimum', object({ a: Type.Array(Id) }), object({ a: Type.Array(Id, { minItems: 1 }) }), {
    exact: ['"a" was array and is now array (minItems 1)'],
    request: ['"a" now accepts minItems 1 only']
  }],
  ['another step', object({ a: Type.Integer({ multipleOf: 4 }) }), object({ a: Type.Integer({ multipleOf: 3 }) }), {
    exact: ['"a" was integer (multipleOf 4) and is now integer (multipleOf 3)'],
    request: ['"a" now accepts multipleOf 3 only']
  }],
  ['a finer step', object({ a: Type.Integer({ multipleOf: 4 }) }), object({ a: Type.Integer({ multipleOf: 2 }) }), {
    exact: ['"a" was integer (multipleOf 4) and is now integer (multipleOf 2)']
  }],
  [
    'elements of a list that were not described',
    object({ a: Type.Unsafe({ type: 'array' }) }),
    object({ a: Type.Array(Id) }),
    {}
  ],
  ['another pattern', object({ a: Type.String({ pattern: '^a' }) }), object({ a: Type.String({ pattern: '^b' }) }), {
    exact: ['"a" was string (pattern ^a) and is now string (pattern ^b)'],
    request: ['"a" now accepts pattern ^b only']
  }],
  ['other values of a map', Type.Record(Type.String(), Type.String()), Type.Record(Type.String(), Type.Null()), {
    exact: ['"*" was string and is now null'],
    request: ['"*" no longer accepts string'],
    response: ['"*" was string and is now null']
  }],
  [
    'a field that one member of a union makes optional',
    Type.Union([object({ a: Id }), object({ a: Id })]),
    Type.Union([object({ a: Id }), object({ a: Type.Optional(Id) })]),
    {
      exact: ['"a" was string(uuid) and is now optional string(uuid)'],
      response: ['"a" may now be missing']
    }
  ],
  [
    'a field that one member of a union lacks',
    Type.Union([object({ a: Id }), object({ a: Id })]),
    Type.Union([object({ a: Id }), object({})]),
    {
      exact: ['"a" was string(uuid) and is now optional string(uuid)'],
      response: ['"a" may now be missing']
    }
  ]
]

const water = object({ kind: Type.Literal('WATER'), ml: Type.Optional(Type.Integer()) })
const sleep = object({ kind: Type.Literal('SLEEP'), minutes: Type.Integer({ maximum: 600 }) })
cases.push(
  [
    'a field made required in one member of a union',
    Type.Union([water, sleep]),
    Type.Union([object({ kind: Type.Literal('WATER'), ml: Type.Integer() }), sleep]),
    {
      exact: ['"(WATER).ml" was optional integer and is now integer'],
      request: ['"(WATER).ml" was optional and is now required']
    }
  ],
  [
    'a new required field in one member of a union',
    Type.Union([water, sleep]),
    Type.Union([object({ ...water.properties, cup: Type.String() }), sleep]),
    {
      exact: ['the field "(WATER).cup" is new and required'],
      request: ['the field "(WATER).cup" is new and required']
    }
  ],
  [
    'a new member of a union',
    Type.Union([water, sleep]),
    Type.Union([water, sleep, object({ kind: Type.Literal('X') })]),
    {
      exact: ['"kind" was "SLEEP" | "WATER" and is now "SLEEP" | "WATER" | "X"']
    }
  ],
  [
    'a removed member of a union',
    Type.Union([water, sleep, object({ kind: Type.Literal('X') })]),
    Type.Union([water, sleep]),
    {
      exact: ['"kind" was "SLEEP" | "WATER" | "X" and is now "SLEEP" | "WATER"'],
      request: ['"kind" no longer accepts "X"']
    }
  ]
)

function all (line: string): Partial<Record<Rule, string[]>> {
  return { exact: [line], request: [line], response: [line] }
}

for (const [change, before, after, reported] of cases) {
  t.test(change, (t) => {
    for (const rule of rules) {
      t.same(compareFields(listFields(before), listFields(after), { rule }), reported[rule] ?? [], rule)
    }
    t.end()
  })
}

t.test('a new field may be required where older messages had it all the same', (t) => {
  const [before, after] = [listFields(object({})), listFields(object({ a: Id }))]
  t.same(compareFields(before, after, { rule: 'exact', olderParse: true }), [])
  t.end()
})

t.test('the elements of a list are not optional where an object may stand in its place', (t) => {
  t.same(listFields(Type.Union([Type.Array(Id), object({ a: Id })])), {
    '': { types: ['array', 'object'] },
    '[]': { types: ['string(uuid)'] },
    a: { types: ['string(uuid)'] }
  })
  t.end()
})

t.test('branches of a union have its type', (t) => {
  t.same(listFields({ type: 'string', anyOf: [{ format: 'date-time' }, { format: 'date' }] }), {
    '': { types: ['string(date)', 'string(date-time)'] }
  })
  t.end()
})

t.test('a reference is followed, also one into itself', (t) => {
  const document = {
    schemas: {
      Comment: {
        type: 'object',
        properties: { text: { type: 'string' }, replies: { type: 'array', items: { $ref: '#/schemas/Comment' } } }
      }
    }
  }
  t.same(Object.keys(listFields({ $ref: '#/schemas/Comment' }, document)), ['', 'text', 'replies', 'replies[]'])
  t.same(listFields({ $ref: '#/a~1b' }, { 'a/b': { type: 'null' } }), { '': { types: ['null'] } })
  t.throws(() => listFields({ $ref: '#/schemas/Post' }, document), { message: 'There is nothing at #/schemas/Post' })
  t.end()
})

t.test('a keyword that is not compared is refused', (t) => {
  t.throws(() => listFields({ type: 'object', properties: { a: { allOf: [] } } }), {
    message: /does not support "allOf", which is used at "a"/
  })
  t.end()
})

t.test('printing does not depend on the order of keys, and keeps each small thing on a line', (t) => {
  const printed = print({ b: [{ y: 1, x: ['a', 'b'] }], a: undefined })
  t.equal(printed, '{\n  "b": [{ "x": ["a", "b"], "y": 1 }]\n}\n')
  t.equal(print({ b: [{ x: ['a', 'b'], y: 1 }] }), printed)
  t.match(
    print({ long: ['x'.repeat(100), 'y'.repeat(100)] }),
    /^\{\n {2}"long": \[\n {4}"x+",\n {4}"y+"\n {2}\]\n\}\n$/
  )
  t.end()
})
