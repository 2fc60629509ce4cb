import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits until `condition` is true. The default timeout is far longer than anything takes that a test waits for, also on a
 * busy machine, and just shorter than the 30 s after which tap ends a test.
 * @throws after `timeoutSeconds`
 */
export async function until (condition: () => boolean | Promise<boolean>, timeoutSeconds = 25) {
  const deadline = Date.now() + timeoutSeconds * 1_000
  while (!await condition()) {
    if (Date.now() > deadline) throw new Error(`not true within ${timeoutSeconds} s: ${condition.toString()}`)
    await sleep(20)
  }
}
