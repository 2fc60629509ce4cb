interface Locks {
  request<Result>(name: string, work: () => Promise<Result>): Promise<Result>
}

const running = new Map<string, Promise<unknown>>()

/** Runs `work` when no other work of this name runs, in this app or in another tab of the page. */
export async function exclusively<Result> (name: string, work: () => Promise<Result>): Promise<Result> {
  const { locks } = (globalThis.navigator ?? {}) as { locks?: Locks }
  // React Native has no tabs and no locks.
  if (locks) return await locks.request(`tandem ${name}`, work)
  const result = (running.get(name) ?? Promise.resolve()).then(work, work)
  running.set(name, result)
  return await result
}
