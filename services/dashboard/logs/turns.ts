/**
 * Lets the work of one key be done one after the other, that of others beside it. Within this process it saves connections: work that
 * would wait in Postgres for the same row waits here, without one.
 */
export function takeTurns () {
  const tails = new Map<string, Promise<unknown>>()
  return async <Result> (key: string, work: () => Promise<Result>): Promise<Result> => {
    const turn = (tails.get(key) ?? Promise.resolve()).then(work, work)
    tails.set(key, turn)
    try {
      return await turn
    } finally {
      if (tails.get(key) === turn) tails.delete(key)
    }
  }
}
