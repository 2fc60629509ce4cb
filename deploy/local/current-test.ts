import type { Test } from 'tap'

let current: Test | undefined

/** Starts a test file, whose tests are subtests of `test`. */
export function startFile (test: Test) {
  current = test
}

export function currentTest (): Test {
  if (!current) throw new Error('no test file runs')
  return current
}
