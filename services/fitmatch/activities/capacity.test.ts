import t from 'tap'
import { ActivityFilled } from '@tandem/contracts'
import { activityApi } from '../test/activities.ts'
import { testApp } from '../test/app.ts'

t.test('an activity is full once its host lowers the capacity to the people who go', async (t) => {
  const api = await testApp(t)
  const { put, del, member, publishedEvents } = api
  const { createWith, match } = activityApi(api)
  const [ana, ben, cleo] = [await member('Ana'), await member('Ben'), await member('Cleo')]
  await match(ana, [ben, cleo])
  const { id } = await createWith(ana, [ben, cleo])
  const setCapacity = async (capacity: number) => await put(ana.id, `/activities/${id}`, { version: 1, capacity })
  const filled = async () => (await publishedEvents(ActivityFilled)).length
  t.equal(await filled(), 1)
  await del(cleo.id, `/activities/${id}/join`)

  t.match(await setCapacity(4), { status: 200 })
  t.match(await setCapacity(3), { status: 200 })
  t.equal(await filled(), 1, 'a place is free')
  t.match(await setCapacity(2), { status: 200, data: { activity: { goingCount: 2, capacity: 2 } } })
  t.equal(await filled(), 2)
  t.match(await setCapacity(2), { status: 200 })
  t.equal(await filled(), 2, 'a repeat changes nothing')
})
