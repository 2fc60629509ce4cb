import { compareGateway, compareSignIns } from './http.ts'
import { measureEvents } from './events.ts'
import { becomeMember, type Member } from './people.ts'
import { withStack } from './stack.ts'
import { printTable } from './table.ts'

// Rates and latencies of the whole system. Compare figures of one run only: the speed of the machine differs between
// runs.
await withStack(async (stack) => {
  console.log('The system is up; measuring takes about a minute and a half.')
  // One at a time: a small machine refuses requests when twelve passwords are hashed at once.
  const members: Member[] = []
  for (let number = 0; number < 12; number++) members.push(await becomeMember(stack, `runner${number}@example.com`))
  const rows = [
    ...await compareGateway(stack, members[0]!),
    ...await compareSignIns(stack, members),
    ...await measureEvents(stack)
  ]
  printTable(rows)
})
