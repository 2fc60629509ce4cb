import { randomUUID } from 'node:crypto'
import t from 'tap'
import { loadBrand, readBrand } from '@tandem/brand-kit'
import { testApp } from '../test/app.ts'
import { offerListsOfBrand } from './offer.ts'
import { handleOfferedOptions } from './rpc.ts'

const { app, db, deps, send } = await testApp(t)
const list = async (type: string, language?: string) => {
  const response = await app.inject({
    url: `/onboarding/options?type=${type}`,
    headers: language ? { 'accept-language': language } : {}
  })
  return { status: response.statusCode, ...response.json() }
}
const admin = randomUUID()
const manage = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) =>
  send(admin, method, url, payload, { role: 'ADMIN' })

t.test('anybody can list all options of each list', async (t) => {
  const lists = {
    motivation: 4,
    activity_style: 4,
    sport_category: 10,
    sport: 127,
    availability: 5,
    fitmatch_interest: 8
  }
  for (const [type, count] of Object.entries(lists)) {
    const { status, success, options } = await list(type)
    t.equal(status, 200)
    t.equal(success, true)
    t.equal(options.length, count, type)
    t.same(
      options.map(({ sortOrder }: { sortOrder: number }) => sortOrder),
      Array.from({ length: count }, (_, index) => index + 1)
    )
    for (const option of options) {
      t.same(Object.keys(option).sort(), ['category', 'icon', 'label', 'optionId', 'sortOrder'])
    }
  }
})

t.test('other services can call for the offered options of a list', async (t) => {
  const offered = async (type: string, optionIds: string[]) =>
    await handleOfferedOptions(deps).handle({ type, optionIds })
  t.strictSame(await offered('fitmatch_interest', ['dating', 'nothing', 'DATING']), ['dating'])
  t.strictSame(await offered('sport', ['dating']), [])
  t.strictSame(await offered('fitmatch_interest', []), [])
})

t.test('each sport has an existing category', async (t) => {
  const categories = new Set(
    (await list('sport_category')).options.map(({ optionId }: { optionId: string }) => optionId)
  )
  const sports = (await list('sport')).options as { optionId: string, category: string }[]
  t.same(sports.filter(({ category }) => !categories.has(category)), [])
  t.equal(new Set(sports.map(({ category }) => category)).size, 10)
})

t.test('labels are in English, or in Indonesian with Accept-Language', async (t) => {
  const label = async (language?: string) =>
    (await list('sport', language)).options.find(({ optionId }: { optionId: string }) => optionId === 'badminton').label
  t.equal(await label(), 'Badminton')
  t.equal(await label('id-ID,id;q=0.9,en;q=0.8'), 'Bulu tangkis')
  t.equal(await label('de'), 'Badminton')
})

t.test('the lists of the brand are offered, and what operators changed stays', async (t) => {
  const { db, app } = await testApp(t)
  const { options } = readBrand().brand
  t.teardown(() => Object.assign(options, loadBrand().options))
  const offered = async () =>
    (await app.inject('/onboarding/options?type=availability')).json().options
      .map(({ optionId }: { optionId: string }) => optionId)
  const [first, ...others] = options.availability
  options.availability = [...others, { id: 'dusk', icon: '🌆', sortOrder: 9 }]
  await offerListsOfBrand(db)
  await offerListsOfBrand(db)
  t.same(await offered(), [...others.map(({ id }) => id), 'dusk'], 'without the first, which the list no longer has')

  options.availability = [first!, ...others]
  await offerListsOfBrand(db)
  t.same(await offered(), [first!.id, ...others.map(({ id }) => id)])
})

t.test('an option that the list of the brand no longer has is offered again once an operator restores it', async (t) => {
  const { db, app, send } = await testApp(t)
  const { options } = readBrand().brand
  t.teardown(() => Object.assign(options, loadBrand().options))
  const [first, ...others] = options.availability
  options.availability = others
  await offerListsOfBrand(db)
  const optionId = first!.id
  t.match(
    await send(admin, 'PUT', '/onboarding/admin/options', { type: 'availability', optionId, isActive: true }, {
      role: 'ADMIN'
    }),
    { status: 200, data: { option: { optionId, isActive: true } } }
  )
  await offerListsOfBrand(db)
  t.match((await app.inject('/onboarding/options?type=availability')).json().options[0], { optionId })
})

t.test('a label that is the text of the brand is not stored, and takes back another one', async (t) => {
  const { db, send } = await testApp(t)
  const change = async (labels: object) => {
    const body = { type: 'availability', optionId: 'morning', labels }
    const response = await send(admin, 'PUT', '/onboarding/admin/options', body, { role: 'ADMIN' })
    t.match(response, { status: 200, data: { option: { labels } } })
    return (await db.selectFrom('options').where('type', '=', 'availability').where('option_id', '=', 'morning')
      .select('labels').executeTakeFirstOrThrow()).labels
  }
  t.strictSame(await change({ en: 'Early', id: 'Pagi', es: 'Mañana' }), { en: 'Early', es: 'Mañana' })
  t.strictSame(await change({ en: 'Morning' }), { es: 'Mañana' })
})

t.test('an unknown or missing list is rejected', async (t) => {
  t.match(await list('nonsense'), { status: 400, code: 'VALIDATION_ERROR' })
  t.match((await app.inject('/onboarding/options')).json(), { success: false, code: 'VALIDATION_ERROR' })
})

t.test('an account with the role ADMIN can add, change, move and deactivate options, and each change is logged', async (t) => {
  const option = {
    type: 'motivation',
    optionId: 'sleep_better',
    labels: { en: 'Sleep better', id: 'Tidur lebih nyenyak' },
    icon: '😴'
  }
  t.match(await manage('POST', '/onboarding/admin/options', option), {
    status: 201,
    data: { option: { ...option, sortOrder: 5, isActive: true } }
  })
  t.match(await manage('POST', '/onboarding/admin/options', option), { status: 409, code: 'OPTION_EXISTS' })
  t.equal((await list('motivation')).options.at(-1).optionId, 'sleep_better')

  t.match(
    await manage('PUT', '/onboarding/admin/options', {
      type: 'motivation',
      optionId: 'sleep_better',
      labels: { en: 'Sleep well' },
      sortOrder: 0
    }),
    { status: 200, data: { option: { labels: { en: 'Sleep well' }, sortOrder: 0 } } }
  )
  t.match((await list('motivation')).options[0], { optionId: 'sleep_better', label: 'Sleep well' })

  t.match(await manage('DELETE', '/onboarding/admin/options?type=motivation&optionId=sleep_better'), {
    status: 200,
    message: String
  })
  t.equal((await list('motivation')).options.length, 4)
  t.match((await manage('GET', '/onboarding/admin/options?type=motivation')).data.options.length, 5)
  t.match(await manage('PUT', '/onboarding/admin/options', { type: 'motivation', optionId: 'nothing' }), {
    status: 404,
    code: 'NOT_FOUND'
  })

  const changes = await db.selectFrom('option_changes').select(['action', 'admin_id', 'option_id']).orderBy(
    'changed_at'
  ).execute()
  t.same(
    changes,
    ['CREATE', 'UPDATE', 'DEACTIVATE'].map((action) => ({ action, admin_id: admin, option_id: 'sleep_better' }))
  )
})

t.test('a sport has a category, other options have none, and an icon cannot be a script', async (t) => {
  const sport = {
    type: 'sport',
    optionId: 'chess_boxing',
    labels: { en: 'Chess boxing', id: 'Tinju catur' },
    icon: '♟️'
  }
  t.match(await manage('POST', '/onboarding/admin/options', sport), { status: 400, code: 'VALIDATION_ERROR' })
  t.match(await manage('POST', '/onboarding/admin/options', { ...sport, category: 'nothing' }), {
    status: 400,
    code: 'VALIDATION_ERROR'
  })
  t.match(
    await manage('POST', '/onboarding/admin/options', { ...sport, type: 'motivation', category: 'combat_sports' }),
    { status: 400, code: 'VALIDATION_ERROR' }
  )
  t.match(await manage('PUT', '/onboarding/admin/options', { type: 'sport', optionId: 'boxing', category: null }), {
    status: 400,
    code: 'VALIDATION_ERROR'
  })
  for (const icon of ['javascript:alert(1)', 'data:text/html,x', '<b>', 'https://']) {
    t.match(await manage('POST', '/onboarding/admin/options', { ...sport, category: 'combat_sports', icon }), {
      status: 400,
      code: 'VALIDATION_ERROR'
    }, icon)
  }
  t.match(
    await manage('POST', '/onboarding/admin/options', {
      ...sport,
      category: 'combat_sports',
      icon: 'https://cdn.example.com/a.png'
    }),
    { status: 201 }
  )
})

t.test('repeated with an idempotency key, an option is added and logged once', async (t) => {
  const headers = { 'idempotency-key': 'one' }
  const option = { type: 'availability', optionId: 'noon', labels: { en: 'Noon', id: 'Tengah hari' }, icon: '🕛' }
  const add = async (en = 'Noon') =>
    await send(admin, 'POST', '/onboarding/admin/options', { ...option, labels: { ...option.labels, en } }, {
      role: 'ADMIN',
      headers
    })
  const [first, again] = [await add(), await add()]
  t.match(first, { status: 201 })
  t.same(again.data, first.data)
  t.match(await add('Midday'), { status: 409, code: 'IDEMPOTENCY_CONFLICT' })
  t.equal((await db.selectFrom('option_changes').select('id').where('option_id', '=', 'noon').execute()).length, 1)
})

t.test('of ten concurrent adds one succeeds and is logged once; two concurrent changes are both kept', async (t) => {
  const option = { type: 'availability', optionId: 'dawn', labels: { en: 'Dawn', id: 'Subuh' }, icon: '🌄' }
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => manage('POST', '/onboarding/admin/options', option))
  )
  t.same(responses.map(({ status }) => status).sort((one, other) => one - other), [201, ...Array(9).fill(409)])
  await Promise.all(
    [{ en: 'Daybreak' }, { id: 'Fajar' }].map((labels) =>
      manage('PUT', '/onboarding/admin/options', { type: 'availability', optionId: 'dawn', labels })
    )
  )
  t.match(
    (await manage('GET', '/onboarding/admin/options?type=availability')).data.options.find((
      { optionId }: { optionId: string }
    ) => optionId === 'dawn'),
    { labels: { en: 'Daybreak', id: 'Fajar' } }
  )
  t.equal((await db.selectFrom('option_changes').select('id').where('option_id', '=', 'dawn').execute()).length, 3)
  t.match(await manage('DELETE', '/onboarding/admin/options?type=availability&optionId=nothing'), {
    status: 404,
    code: 'NOT_FOUND'
  })
})

t.test('only the role ADMIN can manage options', async (t) => {
  const option = { type: 'motivation', optionId: 'x', labels: { en: 'x', id: 'x' }, icon: 'x' }
  for (
    const [method, bodies] of [['GET', [undefined]], ['POST', [option, {}]], ['PUT', [option, {}]], ['DELETE', [
      undefined
    ]]] as const
  ) {
    for (
      const url of ['/onboarding/admin/options?type=sport&optionId=golf', '/onboarding/admin/options?type=nonsense']
    ) {
      for (const body of bodies) {
        t.match(await send(randomUUID(), method, url, body), { status: 403, code: 'FORBIDDEN' }, `${method} ${url}`)
      }
    }
  }
  t.same(await db.selectFrom('options').select('option_id').where('option_id', '=', 'x').execute(), [])
})
