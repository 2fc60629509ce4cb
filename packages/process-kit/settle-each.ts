import { Counter } from 'prom-client'

/** Counts items of a batch whose failure did not stop the others. */
export const failedItems = new Counter({
  name: 'failed_items_total',
  help: 'Items of a batch, such as recipients or due rows, that failed while the others went on'
})

/**
 * Does `work` for every item, also after one has failed: the fault of one person's row must not stop those of others.
 * @throws what `throwErrors` throws, once all items are done
 */
export async function settleEach<Item> (
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
  { concurrency = 1 } = {}
) {
  throwErrors(await settle(items, work, concurrency))
}

interface Batches {
  batchSize: number
  /** How many of a batch at once; by default, all. */
  concurrency?: number
  /** Reads the keys of the next items, in their order: at most `batchSize` after the last one. */
  list: (after: string | undefined) => Promise<string[]>
  work: (key: string) => Promise<unknown>
}

/**
 * Does `work` for all items that `list` finds, a batch at once, also after some have failed. If a whole batch fails, what
 * they need is unavailable, and thousands more are not tried.
 * @returns the errors
 */
export async function settleBatches ({ batchSize, concurrency = batchSize, list, work }: Batches): Promise<unknown[]> {
  const errors: unknown[] = []
  for (let after: string | undefined;;) {
    const keys = await list(after)
    const failed = await settle(keys, work, concurrency)
    errors.push(...failed)
    if (keys.length < batchSize || failed.length === keys.length) return errors
    after = keys.at(-1)
  }
}

/** @returns the errors, once all items are done */
async function settle<Item> (items: Iterable<Item>, work: (item: Item) => Promise<unknown>, concurrency: number) {
  const errors: unknown[] = []
  const remaining = Iterator.from(items)
  await Promise.all(Array.from({ length: concurrency }, async () => {
    for (const item of remaining) {
      try {
        await work(item)
      } catch (error) {
        failedItems.inc()
        errors.push(error)
      }
    }
  }))
  return errors
}

/**
 * Runs named steps one after the other, each also after another has failed: a broken cleanup must not stop the next.
 * @throws what `throwErrors` throws, once all have run: for each failed step an error with its name and its cause
 */
export async function runSteps (steps: Record<string, () => Promise<unknown>>) {
  await settleEach(Object.entries(steps), async ([name, step]) => {
    try {
      await step()
    } catch (cause) {
      throw new Error(`the step "${name}" failed`, { cause })
    }
  })
}

/** @throws the only error, or an AggregateError of several; nothing without errors */
export function throwErrors (errors: unknown[]) {
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} items failed`)
}
