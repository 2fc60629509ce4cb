interface Call<Item, Result> { item: Item, resolve: (result: Result) => void, reject: (error: unknown) => void }

interface Options {
  /** How many at once; 100 unless told. */
  maxItems?: number
  /** Whether a failure may be one item's: then each is tried alone, so that the others do not fail with it. */
  isItemError?: (error: unknown) => boolean
}

/**
 * Does for many what is asked for one by one: calls that come while others are being worked on make the next batch.
 * So however many workers there are, they take one connection at a time, and the more of them wait the fewer statements each costs.
 * @param work answers in the order of its items
 */
export function createBatcher<Item, Result> (work: (items: Item[]) => Promise<Result[]>, { maxItems = 100, isItemError = () => false }: Options = {}): (item: Item) => Promise<Result> {
  const waiting: Call<Item, Result>[] = []
  let isWorking = false

  async function workOff () {
    if (isWorking) return
    isWorking = true
    while (waiting.length > 0) await workOn(waiting.splice(0, maxItems))
    isWorking = false
  }

  async function workOn (calls: Call<Item, Result>[]) {
    try {
      const results = await work(calls.map(({ item }) => item))
      calls.forEach(({ resolve }, number) => resolve(results[number] as Result))
    } catch (error) {
      if (calls.length > 1 && isItemError(error)) await Promise.all(calls.map(async (call) => await workOn([call])))
      else for (const { reject } of calls) reject(error)
    }
  }

  return (item) => new Promise((resolve, reject) => {
    waiting.push({ item, resolve, reject })
    void workOff()
  })
}
