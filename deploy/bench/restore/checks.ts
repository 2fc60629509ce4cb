let failures = 0

export function check (ok: boolean, what: string) {
  console.log(`${ok ? '✓' : '✗'} ${what}`)
  if (!ok) failures++
}

export const hasFailed = () => failures > 0
