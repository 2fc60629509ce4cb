import { reportGoals } from '@tandem/test-kit/goals'
import { measureFirstSight } from './first-sight.ts'

const { signature, whole } = await measureFirstSight(7)
console.log(`signature alone ${signature.toFixed(1)} µs, first sight of a token ${whole.toFixed(1)} µs of CPU`)
reportGoals([
  { name: 'first sight of a token', reference: 'rate of bare crypto.verify', figure: signature / whole, atLeast: 0.9 }
])
