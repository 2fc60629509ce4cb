import { setImmediate } from 'node:timers/promises'

interface Call<Item, Result> {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

interface Options {
  /** The largest batch; default 100. */
  maxItems?: number
  /**
   * Whether an error may be caused by a single item. If so, each item is retried alone, so that the others do not fail
   * with it.
   */
  isItemError?: (error: unknown) => boolean
  /** Whether a batch waits for the other calls of its turn of the event loop; default false. */
  waitsForTurn?: boolean
}

/**
 * Turns single calls into batches: calls that arrive while a batch runs form the next batch. However many callers there
 * are, they use one connection at a time, and the more of them wait, the fewer statements each of them costs.
 * @param work processes a batch and returns one result for each item, in the same order
 * @returns a function that processes one item
 */
export function createBatcher<Item, Result> (
  work: (items: Item[]) => Promise<Result[]>,
  { maxItems = 100, isItemError = () => false, waitsForTurn = false }: Options = {}
): (item: Item) => Promise<Result> {
  const waiting: Call<Item, Result>[] = []
  let isRunning = false

  async function drain () {
    if (isRunning) return
    isRunning = true
    if (waitsForTurn) await setImmediate()
    while (waiting.length > 0) await runBatch(waiting.splice(0, maxItems))
    isRunning = false
  }

  async function runBatch (calls: Call<Item, Result>[]) {
    try {
      const results = await work(calls.map(({ item }) => item))
      calls.forEach(({ resolve }, index) => resolve(results[index] as Result))
    } catch (error) {
      if (calls.length > 1 && isItemError(error)) await Promise.all(calls.map(async (call) => await runBatch([call])))
      else for (const { reject } of calls) reject(error)
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      void drain()
    })
}
