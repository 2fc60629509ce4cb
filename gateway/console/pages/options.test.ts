import t from 'tap'
import { testPages } from '../../test/console-pages.ts'

const { services, submit } = await testPages(t)

t.test('options are added, changed, retired and offered again', async (t) => {
  const send = async (path: string, fields: [string, string][]) => {
    services.profile.received.length = 0
    t.match(await submit(path, [['type', 'sport'], ['optionId', 'padel'], ...fields]), {
      status: 303,
      headers: { location: '/options?type=sport&done=option' }
    })
    const { method, body } = services.profile.received[0]!
    return [method, JSON.parse(String(body)) as object]
  }
  const labels: [string, string][] = [['label-en', 'Padel'], ['label-id', 'Padel'], ['icon', '🎾']]
  const option = { type: 'sport', optionId: 'padel' }
  const shown = { ...option, labels: { en: 'Padel', id: 'Padel' }, icon: '🎾' }
  t.same(await send('/options', labels), ['POST', shown])
  t.same(await send('/options/change', [...labels, ['sortOrder', '7'], ['then', 'save']]), [
    'PUT',
    { ...shown, sortOrder: 7 }
  ])
  t.same(await send('/options/change', [...labels, ['then', 'retire']]), ['PUT', { ...option, isActive: false }])
  t.same(await send('/options/change', [...labels, ['then', 'restore']]), ['PUT', { ...option, isActive: true }])
})
