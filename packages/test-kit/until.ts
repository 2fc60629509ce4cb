import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until `condition` is true. @throws after `timeoutSeconds` */
export async function until (condition: () => boolean | Promise<boolean>, timeoutSeconds = 10) {
  const deadline = Date.now() + timeoutSeconds * 1_000
  while (!await condition()) {
    if (Date.now() > deadline) throw new Error(`not true within ${timeoutSeconds} s: ${condition.toString()}`)
    await sleep(20)
  }
}
