import t from 'tap'
import { createOutboxPolling } from './outbox-polling.ts'

const WRITTEN_AT = 1_000_000
const IDLE = { pauseMs: 5_000, isIdle: true }

t.test('without writes the relay polls every 5 s', async (t) => {
  const polling = createOutboxPolling()
  t.same(polling.nextPause(WRITTEN_AT), IDLE)
  polling.published(0, WRITTEN_AT)
  t.same(polling.nextPause(WRITTEN_AT), IDLE)
})

t.test('after a write it polls every 2 to 16 ms for a second, or until it has published what was written', async (t) => {
  const polling = createOutboxPolling()
  polling.expect(WRITTEN_AT)
  for (const [sinceMs, pauseMs] of [[0, 2], [8, 2], [12, 3], [40, 10], [64, 16], [1_000, 16]] as const) {
    t.same(polling.nextPause(WRITTEN_AT + sinceMs), { pauseMs, isIdle: false }, `${sinceMs} ms after the write`)
  }

  polling.expect(WRITTEN_AT)
  polling.published(1, WRITTEN_AT)
  t.equal(polling.nextPause(WRITTEN_AT).isIdle, false, 'the second event is still expected')
  polling.published(1, WRITTEN_AT)
  t.same(polling.nextPause(WRITTEN_AT), IDLE)
})

t.test('an event whose transaction takes long waits a quarter of that time, and a rolled back one ends the polling', async (t) => {
  const polling = createOutboxPolling()
  polling.expect(WRITTEN_AT)
  t.same(polling.nextPause(WRITTEN_AT + 1_200), { pauseMs: 300, isIdle: true })
  t.same(polling.nextPause(WRITTEN_AT + 8_000), { pauseMs: 2_000, isIdle: true })
  t.same(polling.nextPause(WRITTEN_AT + 20_000), IDLE)
  polling.expect(WRITTEN_AT + 30_000)
  polling.published(1, WRITTEN_AT + 30_000)
  t.same(polling.nextPause(WRITTEN_AT + 30_000), IDLE, 'the event that was rolled back is no longer expected')
})

t.test('events of another process keep it polling for a second after the last of them', async (t) => {
  const polling = createOutboxPolling()
  polling.published(3, WRITTEN_AT)
  t.same(polling.nextPause(WRITTEN_AT), { pauseMs: 2, isIdle: false })
  polling.published(1, WRITTEN_AT + 900)
  t.same(polling.nextPause(WRITTEN_AT + 1_900), { pauseMs: 16, isIdle: false })
  t.same(polling.nextPause(WRITTEN_AT + 1_901), IDLE)
})
