import { createPublicKey, randomUUID, verify } from 'node:crypto'
import { ACCESS_TOKEN, verifySignedToken } from '@tandem/http-kit'
import { bearer, testKeys } from '@tandem/http-kit/testing'
import { reportGoals } from '@tandem/test-kit/goals'
import { median } from './table.ts'

// Measures the first sight of a token, next to the signature check alone, in alternating rounds.
const TOKENS = 2_000
const ROUNDS = 7

const key = createPublicKey(await testKeys.find('test') ?? '')
const tokens = Array.from({ length: TOKENS }, () => bearer(randomUUID()).authorization.slice('Bearer '.length))
const parts = tokens.map((token) => {
  const end = token.lastIndexOf('.')
  return [Buffer.from(token.slice(0, end)), Buffer.from(token.slice(end + 1), 'base64url')] as const
})

/** CPU time of each, in microseconds. */
async function time (work: () => unknown) {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / TOKENS
}

const signatures: number[] = []
const wholes: number[] = []
for (let round = 0; round <= ROUNDS; round++) {
  const signature = await time(() => {
    for (const [content, sign] of parts) verify('sha256', content, { key, dsaEncoding: 'ieee-p1363' }, sign)
  })
  const whole = await time(async () => {
    for (const token of tokens) await verifySignedToken(testKeys, token, ACCESS_TOKEN)
  })
  // The first round warms up.
  if (round > 0) signatures.push(signature)
  if (round > 0) wholes.push(whole)
}
const [signature, whole] = [median(signatures), median(wholes)]
console.log(`signature alone ${signature.toFixed(1)} µs, first sight of a token ${whole.toFixed(1)} µs of CPU`)
reportGoals([
  { name: 'first sight of a token', reference: 'rate of bare crypto.verify', figure: signature / whole, atLeast: 0.9 }
])
