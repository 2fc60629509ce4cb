import { setTimeout as sleep } from 'node:timers/promises'

/** Whether `work` ends before a timer of this process, which a busy machine delays alike. */
export const endsWithin = async (ms: number, work: Promise<unknown>) =>
  await Promise.race([work.then(() => true), sleep(ms).then(() => false)])

/**
 * Waits until `condition` is true. The default timeout only ends what would never happen: a slow machine with much else to
 * do takes ten times as long as usual.
 * @throws after `timeoutSeconds`
 */
export async function until (condition: () => boolean | Promise<boolean>, timeoutSeconds = 120) {
  const deadline = Date.now() + timeoutSeconds * 1_000
  while (!await condition()) {
    if (Date.now() > deadline) throw new Error(`not true within ${timeoutSeconds} s: ${condition.toString()}`)
    await sleep(20)
  }
}
