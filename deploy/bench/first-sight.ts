import { createPublicKey, randomUUID, verify } from 'node:crypto'
import { ACCESS_TOKEN, verifySignedToken } from '@tandem/http-kit'
import { bearer, testKeys } from '@tandem/http-kit/testing'
import { median } from './table.ts'

const TOKENS = 2_000

/**
 * Measures the first sight of a token and its signature check alone, in alternating rounds after one that warms up. The
 * result is the CPU time of each, in microseconds.
 */
export async function measureFirstSight (rounds: number) {
  const key = createPublicKey(await testKeys.find('test') ?? '')
  const tokens = Array.from({ length: TOKENS }, () => bearer(randomUUID()).authorization.slice('Bearer '.length))
  const parts = tokens.map((token) => {
    const end = token.lastIndexOf('.')
    return [Buffer.from(token.slice(0, end)), Buffer.from(token.slice(end + 1), 'base64url')] as const
  })
  const signatures: number[] = []
  const wholes: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const signature = await time(() => {
      for (const [content, sign] of parts) verify('sha256', content, { key, dsaEncoding: 'ieee-p1363' }, sign)
    })
    const whole = await time(async () => {
      for (const token of tokens) await verifySignedToken(testKeys, token, ACCESS_TOKEN)
    })
    if (round > 0) signatures.push(signature)
    if (round > 0) wholes.push(whole)
  }
  return { signature: median(signatures), whole: median(wholes) }
}

async function time (work: () => unknown) {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / TOKENS
}
