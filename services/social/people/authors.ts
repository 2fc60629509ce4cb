import Type from 'typebox'
import { Data, named, NextCursor, NIL_UUID, Nullable } from '@tandem/http-kit'
import type { Deps } from '../deps.ts'
import { fetchCurrentPerson } from './lookup.ts'

/** The person shown as the author of something. */
export const Author = named(
  'UserSummary',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    username: Nullable(Type.String()),
    image: Nullable(Type.String())
  }, {
    examples: [{
      id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10',
      name: 'Ana',
      username: 'ana',
      image: 'https://cdn.example.com/avatars/ana.webp'
    }]
  })
)

/** A person in a list of people. */
const Person = named(
  'UserWithFollow',
  Type.Object({
    ...Author.properties,
    isFollowing: Type.Boolean({ description: 'Whether the caller follows this person' })
  }, {
    examples: [{
      id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10',
      name: 'Ana',
      username: 'ana',
      image: null,
      isFollowing: true
    }]
  })
)
export const PageOfPeople = Data(Type.Object({ users: Type.Array(Person), nextCursor: NextCursor }))

/** A row joined with the local copy of its person; null if the copy does not have that person. */
interface PersonRow {
  userId: string
  name: string | null
  username: string | null
  image: string | null
}

// Shown for a person whose data is currently unavailable or no longer exists.
const unknownPerson = { name: 'Someone', username: null, image: null }
/** Shown where nobody may be named. No account has this id. */
export const nobody: Type.Static<typeof Author> = { id: NIL_UUID, ...unknownPerson }

/**
 * Returns a function that describes the person of a row. It fetches the people missing from the local copy, and the
 * current data of the caller: their own changes must be visible in their next response.
 */
export async function findAuthors (deps: Deps, rows: PersonRow[], callerId: string) {
  const unknown = rows.filter((row) => row.name === null).map((row) => row.userId)
  const showsCaller = rows.some((row) => row.userId === callerId)
  const [fetched, caller] = await Promise.all([
    // While profile is unavailable they are shown as unknown, and the next page that contains them fetches them again.
    deps.people.findById(unknown).catch(() => []),
    showsCaller ? fetchCurrentPerson(deps.callRpc, callerId) : undefined
  ])
  const found = new Map([...fetched, ...caller ? [caller] : []].map((person) => [person.accountId, person]))
  return ({ userId, name, username, image }: PersonRow): Type.Static<typeof Author> => {
    const person = found.get(userId) ?? (name === null ? unknownPerson : { name, username, image })
    return { id: userId, name: person.name, username: person.username, image: deps.media.urlOf(person.image) }
  }
}

/** The rows, each with its person as `user`. */
export async function withAuthors<Row extends PersonRow> (deps: Deps, rows: Row[], callerId: string) {
  const authorOf = await findAuthors(deps, rows, callerId)
  return rows.map(({ name, username, image, ...row }) => ({
    ...row,
    user: authorOf({ userId: row.userId, name, username, image })
  }))
}

/** The rows of a list of people, each with its person's current data. */
export async function withPeople (deps: Deps, rows: (PersonRow & { isFollowing: boolean })[], callerId: string) {
  const authorOf = await findAuthors(deps, rows, callerId)
  return rows.map((row) => ({ ...authorOf(row), isFollowing: row.isFollowing }))
}
