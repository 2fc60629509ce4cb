let failures = 0

/** Prints what was checked. One that fails makes the command fail. */
export function check (ok: boolean, what: string) {
  console.log(`${ok ? '✓' : '✗'} ${what}`)
  if (!ok) failures++
}

export const haveAllPassed = () => failures === 0
