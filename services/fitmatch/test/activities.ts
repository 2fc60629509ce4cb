import type { Member, TestApp } from './app.ts'

/** A date some days from now, in UTC. */
export const inDays = (days: number) => Temporal.Now.plainDateISO('UTC').add({ days }).toString()

/** What a host sends, in three days in UTC, unless the test says otherwise. */
export const plan = (fields: object = {}) => ({
  sport: 'running',
  date: inDays(3),
  startTime: '18:00',
  endTime: '19:30',
  timezone: 'Etc/UTC',
  locationName: 'Gelora, gate 5',
  latitude: -6.2186,
  longitude: 106.8018,
  note: 'Bring water',
  ...fields
})

/** What these tests do again and again. */
export function activityApi ({ post, get, send, createMatch, services }: TestApp) {
  const create = async (host: Member, fields: object = {}) => {
    const response = await post(host.id, '/activities', plan(fields))
    if (response.status !== 201) throw new Error(`planning failed: ${JSON.stringify(response)}`)
    return response.data.activity as { id: string, version: number }
  }
  const read = async (who: Member, id: string) => (await get(who.id, `/activities/${id}`)).data?.activity
  return {
    create,
    read,
    respond: async (guest: Member, id: string, accept = true, version = 1) =>
      await post(guest.id, `/activities/${id}/respond`, { accept, version }),
    /** An activity to which the guests go. */
    createWith: async (host: Member, guests: Member[], fields: object = {}) => {
      const activity = await create(host, {
        capacity: Math.max(2, guests.length + 1),
        ...fields,
        userIds: guests.map(({ id }) => id)
      })
      for (const guest of guests) {
        await post(guest.id, `/activities/${activity.id}/respond`, { accept: true, version: 1 })
      }
      return activity
    },
    match: async (host: Member, guests: Member[]) => {
      for (const guest of guests) await createMatch(host, guest)
    },
    /** From now on, everybody follows everybody. */
    letEverybodyFollow: () => {
      services.connection = () => ({ isMatched: false, hasBlocked: false, isFollower: true })
    },
    list: async (who: Member, filter: string) =>
      (await get(who.id, `/activities?filter=${filter}`)).data.activities as { id: string }[],
    unmatch: async (who: Member, matchId: string) => await send(who.id, 'DELETE', `/fitmatch/chat/${matchId}`)
  }
}
