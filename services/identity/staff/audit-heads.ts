import type { Storage } from '@tandem/media-kit'
import type { AuditHead } from '@tandem/operator-kit'

const FOLDER = 'audit/'

/**
 * Keeps the end of the audit of a day outside the database, where the rights of its owner do not reach. What is stored
 * is never replaced, or somebody who rewrote the audit would only have to wait. @throws Unavailable
 */
export const storeAuditHead = (storage: Storage) => async (day: string, head: AuditHead) => {
  const key = `${FOLDER}${day}.json`
  if (await storage.find(key)) return
  await storage.put(key, Buffer.from(JSON.stringify(head)), 'application/json')
}

/** @throws Unavailable */
export async function listAuditHeads (storage: Storage): Promise<AuditHead[]> {
  const files = await Promise.all((await storage.list(FOLDER)).map(async (key) => await storage.find(key)))
  return files.flatMap((file) => file ? [JSON.parse(file.toString()) as AuditHead] : [])
}
