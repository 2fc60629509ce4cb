import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { until } from '@tandem/test-kit'
import { publish } from './index.ts'
import { effects, Happened, haveEffects, publishOne, testBus } from './test-bus.ts'

t.test('a rolled back event is never published', async (t) => {
  const { db, publisher, consumer } = await testBus(t)
  publisher().relay()
  consumer().consume()
  await t.rejects(
    db.transaction().execute(async (trx) => {
      await publish(trx, Happened, 'thing', { number: 13 })
      throw new Error('changed my mind')
    }),
    { message: 'changed my mind' }
  )
  await publishOne(db, 1)
  await until(haveEffects(db, 1))
  await sleep(200)
  t.strictSame(await effects(db), [1])
})

t.test('data that do not match the schema cannot be published, and the error does not contain them', async (t) => {
  const { db } = await testBus(t)
  const wrong = db.transaction().execute(async (trx) =>
    await publish(trx, Happened, 'thing', { number: 'secret' as unknown as number })
  )
  await t.rejects(wrong, { message: /alpha\.thing\.happened\.v1.*number/ })
  await t.rejects(wrong, { message: /^(?!.*secret)/ })
})

t.test('publish throws for an event that exceeds a message, and its change is rolled back', async (t) => {
  const { db, publisher, consumer } = await testBus(t)
  const publishLarge = async (number: number, length: number) =>
    await db.transaction().execute(async (trx) => {
      await publishOne(db, 100 + number)
      await publish(trx, Happened, 'thing', { number, text: 'ä'.repeat(length) })
    })
  await t.rejects(
    publishLarge(0, 35_000),
    /alpha.thing.happened.v1 is too large to publish: 70\d{3} bytes, the maximum is 64512/
  )
  t.equal((await db.selectFrom('outbox').select('id').execute()).length, 1, 'only the event of the other transaction')
  await t.rejects(
    db.transaction().execute(async (trx) => {
      await publish(trx, Happened, 'x'.repeat(500), { number: 0, text: 'x'.repeat(64_100) })
    }),
    /too large to publish/,
    'the subject counts, too'
  )

  await publishLarge(1, 32_200)
  publisher().relay()
  consumer().consume()
  await until(haveEffects(db, 3))
  t.strictSame(await effects(db), [1, 100, 101], 'an event that just fits arrives')
})
