import Type from 'typebox'
import { Nullable } from '@tandem/service-kit'
import type { Deps } from '../deps.ts'
import { findFresh } from './lookup.ts'

/** Who wrote or did something, as it is shown beside it. */
export const Author = Type.Object({
  id: Type.String(),
  name: Type.String(),
  image: Nullable(Type.String())
}, { examples: [{ id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10', name: 'Ana', image: 'https://cdn.example.com/avatars/ana.webp' }] })

/** A row with what the local copy knows of its person, null where it knows nothing. */
interface Authored { userId: string, name: string | null, image: string | null }

// Somebody whom no service can tell anything of just now, or any more.
const nobody = { name: 'Someone', username: null, image: null }

/** Rows with the people in them as `user`. */
export async function withAuthors<Row extends Authored> (deps: Deps, rows: Row[], callerId: string) {
  const find = await complete(deps, rows, callerId)
  return rows.map(({ name, image, ...row }) => {
    const person = find(row.userId) ?? (name === null ? nobody : { name, image })
    return { ...row, user: { id: row.userId, name: person.name, image: person.image } }
  })
}

/** A list of people. */
export async function withPeople<Row extends Authored & { username: string | null, isFollowing: boolean }> (deps: Deps, rows: Row[], callerId: string) {
  const find = await complete(deps, rows, callerId)
  return rows.map(({ userId, isFollowing, ...row }) => {
    const { name, username, image } = find(userId) ?? (row.name === null ? nobody : { ...row, name: row.name })
    return { id: userId, name, username, image, isFollowing }
  })
}

/**
 * Finds the people that the local copy does not know yet, and the caller himself as he is at this moment:
 * what he has just changed has to be in his next answer.
 */
async function complete (deps: Deps, rows: Authored[], callerId: string) {
  const unknown = rows.filter((row) => row.name === null).map((row) => row.userId)
  const showsCaller = rows.some((row) => row.userId === callerId)
  const [completed, caller] = await Promise.all([
    // While the profile service is away they stay nobody, and are asked for again by the next page that shows them.
    deps.people.findById(unknown).catch(() => []),
    showsCaller ? findFresh(deps.callRpc, callerId) : undefined
  ])
  const found = new Map([...completed, ...caller ? [caller] : []].map((person) => [person.accountId, person]))
  return (accountId: string) => found.get(accountId)
}
