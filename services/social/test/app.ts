import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Insertable } from 'kysely'
import { handleRpc } from '@tandem/bus-kit'
import { fakeRpc, recordedEvents } from '@tandem/bus-kit/testing'
import { AchievementSnapshot, ActivitySnapshot, People, PeopleNamed, WorkoutSnapshot } from '@tandem/contracts'
import { testDatabase } from '@tandem/database-kit/testing'
import { Unavailable } from '@tandem/process-kit'
import type { Teardown } from '@tandem/test-kit'
import { createMedia, createUploadParts, diskStorage } from '@tandem/media-kit'
import { mediaSigningKey } from '@tandem/media-url-kit/testing'
import { createHooks } from '@tandem/http-kit'
import { bearer, silentLog, testKeys } from '@tandem/http-kit/testing'
import { createApp, createHandlers } from '../app.ts'
import { upsertBlock, upsertMatch } from '../connections/actions.ts'
import type { Deps } from '../deps.ts'
import { createSocialErasure } from '../erasure.ts'
import { createRanking, updateRanking } from '../feed/ranking.ts'
import { follow } from '../follows/actions.ts'
import { upsertPeople, type PersonCopy } from '../people/copies.ts'
import { createPeopleLookup } from '../people/lookup.ts'
import type { Snapshots } from '../posts/snapshots.ts'
import type { Db, Tables } from '../tables.ts'

export { createApp }

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/**
 * A fake of the profile service: the people it knows, whether it is unavailable, and the ids or usernames of each call.
 */
interface Profiles {
  people: Map<string, PersonCopy>
  isUnavailable: boolean
  calls: string[][]
}

/** A fake of dashboard and FitMatch: what each account can show in a post, and whether they are unavailable. */
interface Shown {
  workouts: { accountId: string, snapshot: NonNullable<Snapshots['workout']> }[]
  achievements: { accountId: string, snapshot: NonNullable<Snapshots['achievement']> }[]
  activities: { accountId: string, snapshot: NonNullable<Snapshots['activity']> }[]
  /** In which languages the titles of achievements were requested. */
  languages: string[]
  isUnavailable: boolean
}

/** What a service has, with files in `folder`. */
export function createTestDeps (
  { db, callRpc, folder, hooks = createHooks(undefined, silentLog), onlyOwnMedia = false, transcodesVideos = false }:
    & Pick<Deps, 'db' | 'callRpc'>
    & Partial<Pick<Deps, 'hooks'>>
    & { folder: string, onlyOwnMedia?: boolean, transcodesVideos?: boolean }
): Deps {
  const storage = diskStorage(folder)
  const uploadParts = createUploadParts(storage)
  const media = createMedia({
    storage,
    cdnUrl: 'https://cdn.example.com',
    ownUrlsOnly: onlyOwnMedia,
    signingKey: mediaSigningKey
  })
  return {
    db,
    callRpc,
    hooks,
    people: createPeopleLookup({ db, callRpc, media }),
    media,
    uploadParts,
    transcodesVideos,
    ranking: createRanking(db),
    fourEyes: new Set(),
    erasure: createSocialErasure({ db, callRpc, media, uploadParts })
  }
}

/** An app with its own database schema. */
export async function testApp (
  t: Teardown,
  { onlyOwnMedia = false, hooks = createHooks(undefined, silentLog), transcodesVideos = false, log = silentLog } = {}
) {
  const { db, url } = await testDatabase<Tables>(t, path.dirname(import.meta.dirname))
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-social-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))

  const profiles: Profiles = { people: new Map(), isUnavailable: false, calls: [] }
  const findPeople = (keys: string[], keyOf: (person: PersonCopy) => string) => {
    profiles.calls.push(keys)
    return [...profiles.people.values()].filter((person) => keys.includes(keyOf(person)))
  }
  const shown: Shown = { workouts: [], achievements: [], activities: [], languages: [], isUnavailable: false }
  const findShown = <Snapshot extends { id: string }>(
    all: { accountId: string, snapshot: Snapshot }[],
    accountId: string,
    id: string
  ) => {
    if (shown.isUnavailable) throw new Unavailable()
    return all.find((each) => each.accountId === accountId && each.snapshot.id === id)?.snapshot ?? null
  }
  const callRpc = fakeRpc([
    handleRpc(WorkoutSnapshot, async ({ accountId, workoutId }) => findShown(shown.workouts, accountId, workoutId)),
    handleRpc(AchievementSnapshot, async ({ accountId, achievementId, language }) => {
      shown.languages.push(language)
      return findShown(shown.achievements, accountId, achievementId)
    }),
    handleRpc(
      ActivitySnapshot,
      async ({ accountId, activityId }) => findShown(shown.activities, accountId, activityId)
    ),
    handleRpc(People, async ({ accountIds }) => findPeople(accountIds, ({ accountId }) => accountId)),
    handleRpc(PeopleNamed, async ({ usernames }) => findPeople(usernames, ({ username }) => username))
  ], () => profiles.isUnavailable)
  const deps = createTestDeps({ db, callRpc, folder, hooks, onlyOwnMedia, transcodesVideos })
  const app = await createApp(deps, { log, keys: testKeys })
  t.teardown(() => app.close())

  /** Sends a request as an account and returns the status and the parsed body. */
  async function send (
    accountId: string,
    method: Method,
    url: string,
    payload?: object,
    headers: Record<string, string> = {}
  ) {
    const response = await app.inject({
      method,
      url,
      headers: { ...bearer(accountId, { sessionId: accountId }), ...headers },
      ...(payload && { payload })
    })
    const { data, code, ...rest } = response.json()
    return { status: response.statusCode, data, code, ...rest }
  }

  return {
    app,
    db,
    url,
    deps,
    folder,
    profiles,
    shown,
    handlers: createHandlers(deps),
    send,
    get: (accountId: string, url: string) => send(accountId, 'GET', url),
    post: (accountId: string, url: string, payload: object = {}, headers: Record<string, string> = {}) =>
      send(accountId, 'POST', url, payload, headers),
    put: (accountId: string, url: string, payload: object) => send(accountId, 'PUT', url, payload),
    del: (accountId: string, url: string) => send(accountId, 'DELETE', url),
    /** The data of all published events, or of those of one type. */
    publishedEvents: async (type?: string) =>
      (await recordedEvents(db)).filter((event) => type === undefined || event.type === type).map((event) =>
        event.data as Record<string, unknown>
      ),
    /** Adds a person to profile and to the local copy. */
    person: async (name: string, others: Partial<PersonCopy> = {}) => {
      const person = examplePerson(name, others)
      profiles.people.set(person.accountId, person)
      await upsertPeople(deps, [person], new Date())
      return person.accountId
    },
    /** Updates the ranking to the current posts, however long the one before took. */
    rank: async () => {
      await db.updateTable('trending_rankings').set({ confirmed_at: new Date(Date.now() - 60_000), duration_ms: 0 })
        .execute()
      await updateRanking(db)
    },
    follows: async (followerId: string, followedId: string) => await follow(db, { followerId, followedId }),
    matches: async (one: string, other: string) =>
      await upsertMatch(db, { matchId: randomUUID(), accountIds: [one, other] }, { hasEnded: false }),
    blocks: async (blockerId: string, blockedId: string) =>
      await upsertBlock(db, { blockerId, blockedId }, { isLifted: false, at: new Date(), sequence: 1 })
  }
}

export type TestApp = Awaited<ReturnType<typeof testApp>>

/** A person as the profile service returns them. By default the username is the name. */
export const examplePerson = (name: string, others: Partial<PersonCopy> = {}): PersonCopy => ({
  accountId: randomUUID(),
  name,
  username: name.toLowerCase(),
  image: null,
  bio: null,
  locale: 'en',
  timezone: 'Asia/Jakarta',
  ...others
})

export async function givenPost (db: Db, post: Partial<Insertable<Tables['posts']>> & { author_id: string }) {
  return await db.insertInto('posts')
    .values({
      type: 'TEXT',
      visibility: 'PUBLIC',
      content: 'hello',
      media_urls: [],
      media_type: null,
      activity_id: null,
      workout_id: null,
      achievement_id: null,
      location_name: null,
      latitude: null,
      longitude: null,
      deleted_at: null,
      ...post
    })
    .returning(['id', 'author_id'])
    .executeTakeFirstOrThrow()
}

export async function givenStory (db: Db, story: Partial<Insertable<Tables['stories']>> & { author_id: string }) {
  return await db.insertInto('stories')
    .values({
      media_url: 'https://cdn.example.com/a.webp',
      media_type: 'IMAGE',
      caption: null,
      text_color: null,
      bg_color: null,
      font_style: null,
      duration: null,
      cleared_at: null,
      ...story
    })
    .returning(['id', 'author_id'])
    .executeTakeFirstOrThrow()
}
