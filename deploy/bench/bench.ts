import { compareGateway, compareSignIns } from './http.ts'
import { measureEvents } from './events.ts'
import { becomeMember } from './people.ts'
import { withStack } from './stack.ts'
import { printTable } from './table.ts'

// Figures of one run belong together: the machine's speed is in all of them. Those of two runs do not.
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
