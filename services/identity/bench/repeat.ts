/** How many at once, and for how long. */
export interface Load {
  concurrency: number
  seconds: number
}

/** Repeats `work` for a while. @returns how many times it succeeded */
export async function repeat ({ concurrency, seconds }: Load, work: () => Promise<boolean>) {
  const until = performance.now() + seconds * 1_000
  let succeeded = 0
  await Promise.all(Array.from({ length: concurrency }, async () => {
    while (performance.now() < until) if (await work()) succeeded++
  }))
  return succeeded
}
