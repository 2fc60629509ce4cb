import { Readable } from 'node:stream'

// Bodies are copied into blocks: one that arrives in pieces of a byte would take a hundred times its length.
const BLOCK_BYTES = 64 * 1_024

/**
 * Where a long body waits until it has arrived as a whole.
 * @param acquireBlock waits until memory for one more block is free, and returns what frees it
 */
export function createMemoryStore (acquireBlock: () => Promise<() => void>) {
  const blocks: Buffer[] = []
  const releases: (() => void)[] = []
  let used = BLOCK_BYTES
  let isFreed = false
  return {
    async write (chunk: Buffer) {
      for (let stored = 0; stored < chunk.length;) {
        if (used === BLOCK_BYTES) {
          const release = await acquireBlock()
          if (isFreed) return release()
          releases.push(release)
          blocks.push(Buffer.allocUnsafeSlow(BLOCK_BYTES))
          used = 0
        }
        const copied = chunk.copy(blocks.at(-1) as Buffer, used, stored)
        used += copied
        stored += copied
      }
    },
    /** The whole body. */
    read: () => Readable.from([...blocks.slice(0, -1), ...blocks.slice(-1).map((last) => last.subarray(0, used))]),
    /** Frees what the body takes. */
    free () {
      isFreed = true
      for (const release of releases.splice(0)) release()
    }
  }
}
