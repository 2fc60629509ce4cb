import { UserError } from '@tandem/local-servers/screen.ts'

/** Like Promise.all, but waits for all: so a following stop finds none that is still starting. */
export async function waitForAll (work: Array<Promise<unknown>>) {
  const results = await Promise.allSettled(work)
  const reasons = results.flatMap((result) => result.status === 'rejected' ? [result.reason as Error] : [])
  if (reasons.length > 1 && reasons.every((reason) => reason instanceof UserError)) {
    throw new UserError(reasons.map(({ message }) => message).join('\n  '))
  }
  if (reasons.length > 0) throw reasons[0]
}
