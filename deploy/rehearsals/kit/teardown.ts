type Close = () => unknown

/** Runs `work`, and then what it registered with `teardown`, the last first, as a test does. */
export async function withTeardown (work: (t: { teardown: (close: Close) => unknown }) => Promise<void>) {
  const closes: Close[] = []
  try {
    await work({ teardown: (close) => closes.push(close) })
  } finally {
    for (const close of closes.reverse()) await close()
  }
}
