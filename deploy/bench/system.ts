import { compareGateway, compareSignIns } from './http.ts'
import { measureEvents } from './events.ts'
import { becomeMember } from './people.ts'
import { withStack } from './stack.ts'
import { printTable } from './table.ts'

// Rates and latencies of the whole system. Compare figures of one run only: the speed of the machine differs between
// runs.
await withStack(async (stack) => {
  console.log('The system is up; measuring takes about a minute and a half.')
  const members = await Promise.all(
    Array.from({ length: 12 }, async (_, number) => await becomeMember(stack, `runner${number}@example.com`))
  )
  const rows = [
    ...await compareGateway(stack, members[0]!),
    ...await compareSignIns(stack, members),
    ...await measureEvents(stack)
  ]
  printTable(rows)
})
