/** Runs `tasks` concurrently, few enough at once to leave database connections for others. */
export async function runConcurrently<Result> (tasks: (() => Promise<Result>)[], concurrency = 4) {
  const results: Result[] = []
  await Promise.all(Array.from({ length: concurrency }, async (_, worker) => {
    for (let number = worker; number < tasks.length; number += concurrency) results[number] = await tasks[number]!()
  }))
  return results
}
