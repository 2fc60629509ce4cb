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
  const since = Date.now()
  while (!await condition()) {
    const waitedMs = Date.now() - since
    if (waitedMs > timeoutSeconds * 1_000) {
      throw new Error(`not true within ${timeoutSeconds} s: ${condition.toString()}`)
    }
    // What takes long is looked at less often: a condition may be a request, and others need the processor.
    await sleep(Math.min(20 + waitedMs / 20, 100))
  }
}
