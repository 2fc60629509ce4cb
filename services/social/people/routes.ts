import Type from 'typebox'
import {
  createInvalidCursor,
  paginate,
  Data,
  data,
  Id,
  Nullable,
  PageQuery,
  Text,
  named,
  type Routes
} from '@tandem/http-kit'
import { examplePicture, Picture } from '@tandem/media-kit'
import type { Deps } from '../deps.ts'
import { PersonNotFound } from '../errors.ts'
import { ensurePerson, findAccountByUsername } from './actions.ts'
import { PageOfPeople, withPeople } from './authors.ts'
import { fetchCurrentPerson } from './lookup.ts'
import { findProfile, searchPeople, type SearchPosition } from './queries.ts'

const PublicProfile = named(
  'UserProfile',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    username: Type.String(),
    image: Nullable(Type.String()),
    picture: Nullable(Picture),
    bio: Nullable(Type.String()),
    followersCount: Type.Integer(),
    followingCount: Type.Integer(),
    postsCount: Type.Integer({ description: 'The number of posts that GET /feed?userId= lists for the caller' }),
    isFollowing: Type.Boolean(),
    isFollowedBy: Type.Boolean(),
    isSelf: Type.Boolean()
  }, {
    examples: [{
      id: '01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e10',
      name: 'Ana',
      username: 'ana',
      image: examplePicture.url,
      picture: examplePicture,
      bio: 'Runs at dawn',
      followersCount: 12,
      followingCount: 7,
      postsCount: 3,
      isFollowing: true,
      isFollowedBy: false,
      isSelf: false
    }]
  })
)

// Two characters, or one of a script in which a family name has one.
const SearchText = Text({
  max: 50,
  pattern: '^(?:.{2,}|[\\p{sc=Han}\\p{sc=Hangul}\\p{sc=Hiragana}\\p{sc=Katakana}])$',
  expectedFormat: 'searchText',
  documentedAs: Text({ max: 50, description: 'At least two characters, or one of Han, Hangul or kana' })
})

export const personRoutes: Routes<Deps> = async (app, deps) => {
  const { db, media } = deps

  async function readProfile (userId: string, callerId: string) {
    const isSelf = userId === callerId
    const [profile, current] = await Promise.all([
      findProfile(db, userId, callerId),
      isSelf ? fetchCurrentPerson(deps.callRpc, userId) : undefined
    ])
    if (!profile) throw new PersonNotFound()
    const { name, username, image, imageDetails, bio } = current ?? profile
    const picture = image === null ? null : media.describe(media.toStoredValue(image), imageDetails)
    return data({ user: { ...profile, name, username, image: picture?.url ?? null, picture, bio, isSelf } })
  }

  app.get('/users/search', {
    schema: {
      operationId: 'searchUsers',
      summary: 'Search users by username, then by name',
      description: 'The caller, blocked users and users who blocked the caller are left out.',
      'x-extension': true,
      querystring: PageQuery({
        q: SearchText,
        cursor: Type.Optional(Type.String({ description: 'The nextCursor of the previous page' }))
      }),
      response: { 200: PageOfPeople }
    }
  }, async ({ query, account }) => {
    const { page, nextCursor } = paginate(
      await searchPeople(db, account.id, query.q, {
        cursor: query.cursor === undefined ? undefined : parsePosition(query.cursor),
        limit: query.limit
      }),
      query.limit,
      formatPosition
    )
    return data({ users: await withPeople(deps, page, account.id), nextCursor })
  })

  app.get('/users/:userId', {
    schema: {
      operationId: 'getUser',
      summary: 'Get a public profile',
      description: 'With counts, and whether the caller and the user follow each other.',
      'x-extension': true,
      params: Type.Object({ userId: Id }),
      errors: [PersonNotFound],
      response: { 200: Data(Type.Object({ user: PublicProfile })) }
    }
  }, async ({ params: { userId }, account }) => {
    await ensurePerson(deps, userId)
    return await readProfile(userId, account.id)
  })

  app.get(
    '/users/by-username/:username',
    {
      schema: {
        operationId: 'getUserByUsername',
        summary: 'Get a public profile by username',
        description: 'Upper and lower case are the same. People who cannot be seen by id are not found by name.',
        'x-extension': true,
        params: Type.Object({ username: Text({ max: 64, examples: ['ana'] }) }),
        errors: [PersonNotFound],
        response: { 200: Data(Type.Object({ user: PublicProfile })) }
      }
    },
    async ({ params: { username }, account }) =>
      await readProfile(await findAccountByUsername(deps, username), account.id)
  )
}

const formatPosition = ({ byUsername, username, userId }: SearchPosition) =>
  `${byUsername ? 'username' : 'name'}:${username}:${userId}`

function parsePosition (cursor: string): SearchPosition {
  const [, part, username, userId] =
    /^(username|name):([^:]+):([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(cursor) ?? []
  if (username === undefined || userId === undefined) throw createInvalidCursor()
  return { byUsername: part === 'username', username, userId }
}
