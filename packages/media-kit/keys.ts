import { createHash, randomUUID } from 'node:crypto'

/** Whether everybody who knows the address of an image may see it. */
export type Visibility = 'public' | 'private'

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const FORMER_KEY = new RegExp(`^(photos|social|fitmatch|chat)/${UUID}/${UUID}\\.webp$`)

/** Folders of the keys that named their owner. */
export type FormerFolder = 'photos' | 'social' | 'fitmatch' | 'chat'

/** A key that nobody can guess and that tells nothing of its owner. */
export const createMediaKey = (audience: Visibility) => `${audience}/${randomUUID()}.webp`

/**
 * The key that an image moved to whose key named its owner; undefined for any other. Migrations of the services compute the same in SQL.
 */
export function keyAfterMove (former: string) {
  const [, folder] = FORMER_KEY.exec(former) ?? []
  if (!folder) return
  return `${folder === 'chat' ? 'private' : 'public'}/${digestOf(former)}.webp`
}

/** The key of the one private copy of a public image. The way back is not to be found: who may see the copy does not learn the public address. */
export const privateCopyKeyOf = (key: string) => `private/${digestOf(`copy of ${key}`)}.webp`

const digestOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
