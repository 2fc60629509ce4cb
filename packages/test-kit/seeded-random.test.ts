import t from 'tap'
import { seededRandom } from './seeded-random.ts'

const take = (random: () => number) => Array.from({ length: 1_000 }, random)

t.test('the same seed gives the same numbers, spread from 0 to 1', async (t) => {
  const numbers = take(seededRandom(t, 42))
  t.strictSame(numbers, take(seededRandom(t, 42)))
  t.notSame(numbers, take(seededRandom(t, 43)))
  for (let tenth = 0; tenth < 10; tenth++) {
    const inTenth = numbers.filter((each) => each >= tenth / 10 && each < (tenth + 1) / 10)
    t.ok(inTenth.length > 60 && inTenth.length < 140, `${inTenth.length} of 1,000`)
  }
})
