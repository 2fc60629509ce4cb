import { createHash, randomUUID } from 'node:crypto'

/** Whether everybody who knows the address of an image may see it. */
export type Audience = 'public' | 'private'

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const KEY = new RegExp(`^(public|private)/${UUID}\\.webp$`)
const FORMER_KEY = new RegExp(`^(photos|social|fitmatch|chat)/${UUID}/${UUID}\\.webp$`)

/** Folders of the keys that named their owner. */
export type FormerFolder = 'photos' | 'social' | 'fitmatch' | 'chat'

/** A key that nobody can guess and that tells nothing of its owner. */
export const createKey = (audience: Audience) => `${audience}/${randomUUID()}.webp`

/** Whether a stored value is the key of an image, and not the address of one of elsewhere. */
export const isKey = (value: string) => KEY.test(value)

export const isPrivate = (key: string) => key.startsWith('private/')

/**
 * The key that an image moved to whose key named its owner; undefined for any other. Migrations of the services compute the same in SQL.
 */
export function keyAfterMove (former: string) {
  const [, folder] = FORMER_KEY.exec(former) ?? []
  if (!folder) return
  const digest = createHash('sha256').update(former).digest('hex')
  const uuid = digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return `${folder === 'chat' ? 'private' : 'public'}/${uuid}.webp`
}
