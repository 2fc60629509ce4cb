import type { Person } from './settled-people.ts'

/** Somebody with a profile to match, and with a match. */
export interface Runner extends Person {
  profileId: string
  matchId: string
}

/** Lets each two people like each other. */
export async function matchPairs (people: Person[]): Promise<Runner[]> {
  const profiles: string[] = []
  for (const { send } of people) {
    profiles.push((await send<{ data: { id: string } }>('GET', '/fitmatch/profile')).data.id)
  }
  const matches: string[] = []
  for (const [number, { send }] of people.entries()) {
    const { data: { match } } = await send<{ data: { match?: { matchId: string } } }>('POST', '/fitmatch/swipe', {
      targetProfileId: profiles[number ^ 1],
      swipeType: 'LIKE'
    })
    if (match) matches.push(match.matchId)
  }
  return people.map((person, number) => ({
    ...person,
    profileId: profiles[number]!,
    matchId: matches[Math.floor(number / 2)]!
  }))
}
