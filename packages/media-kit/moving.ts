import { keyAfterMove, type FormerFolder } from './keys.ts'
import type { Storage } from './storage.ts'

/**
 * Moves the images of `folders` from keys that named their owner to their keys of today. What was moved is not found again, so it may be
 * interrupted, repeated and done by several processes at once; once nothing is left it costs one look.
 * @returns how many were moved
 */
export async function moveFormerImages (storage: Storage, folders: FormerFolder[]) {
  let moved = 0
  for (const folder of folders) {
    for (const former of await storage.list(`${folder}/`)) {
      const key = keyAfterMove(former)
      if (!key) continue
      const bytes = await storage.find(former)
      if (bytes) await storage.put(key, bytes, 'image/webp')
      await storage.remove(former)
      moved++
    }
  }
  return moved
}
