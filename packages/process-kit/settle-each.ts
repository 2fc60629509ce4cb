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
  throwErrors(errors)
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
