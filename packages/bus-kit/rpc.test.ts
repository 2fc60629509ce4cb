import { setTimeout as sleep } from 'node:timers/promises'
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { defineRpc } from '@tandem/contracts'
import { startNats } from '@tandem/local/testing'
import t, { type Test } from 'tap'
import Type from 'typebox'
import { handleRpc, createRpcClient, connectBus, natsRights, startRpcHandlers, Unavailable, type RpcHandler, type CallRpc } from './index.ts'
import { log, until, upTo } from './harness.ts'

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
propagation.setGlobalPropagator(new W3CTraceContextPropagator())

t.jobs = 3

const Double = defineRpc('beta.double.v1', {
  request: Type.Object({ number: Type.Integer() }),
  response: Type.Object({ doubled: Type.Integer() })
})
const double = handleRpc(Double, async ({ number }) => ({ doubled: number * 2 }))

const Much = defineRpc('beta.much.v1', { request: Type.Object({}), response: Type.String() })
const ofGamma = defineRpc('gamma.double.v1', Double)
const nothing = { consumes: [], provides: [], calls: [] }
const rights = natsRights([
  { ...nothing, service: 'alpha', calls: [Double, Much, ofGamma] },
  { ...nothing, service: 'beta', provides: [Double, Much] },
  { ...nothing, service: 'gamma', provides: [ofGamma], calls: [Double] }
])

/** One who asks, and replicas of one who answers. */
async function world (t: Test) {
  const nats = await startNats(t, { rights })
  const join = async (service: string) => {
    const bus = connectBus(nats.urlOf(service), { service, log })
    t.teardown(() => bus.close())
    await until(() => bus.current() !== undefined)
    return bus
  }
  const alpha = await join('alpha')
  return {
    nats,
    join,
    bus: alpha,
    ask: createRpcClient(alpha),
    async answers (...answerers: RpcHandler[]) {
      const bus = await join('beta')
      startRpcHandlers(bus, answerers)
      await bus.current()?.flush()
      return bus
    }
  }
}

/** Long enough to tell an answer from a timeoutMs, however busy the machine is. */
const patient = { timeoutMs: 10_000 }

async function refused (t: Test, asked: ReturnType<CallRpc>) {
  const since = performance.now()
  await t.rejects(asked, { code: 'SERVICE_UNAVAILABLE', statusCode: 503 })
  t.ok(performance.now() - since < patient.timeoutMs / 2)
}

t.test('a question is answered', async (t) => {
  const { ask, answers } = await world(t)
  await answers(double)
  t.strictSame(await ask(Double, { number: 21 }), { doubled: 42 })
})

t.test('replicas share the questions', async (t) => {
  const { ask, answers } = await world(t)
  const asked = [0, 0]
  for (const index of [0, 1]) {
    await answers(handleRpc(Double, async ({ number }) => {
      asked[index]!++
      return { doubled: number * 2 }
    }))
  }
  await Promise.all(upTo(100).map(async (number) => await ask(Double, { number })))
  t.equal(asked[0]! + asked[1]!, 100)
  t.ok(Math.min(...asked) > 10)
})

t.test('when nobody is there to answer, the asker knows at once', async (t) => {
  const { ask } = await world(t)
  await refused(t, ask(Double, { number: 1 }, patient))
})

t.test('the asker waits no longer than he said', async (t) => {
  const { ask, answers } = await world(t)
  await answers(handleRpc(Double, async () => {
    await sleep(7_000)
    return { doubled: 0 }
  }))
  await refused(t, ask(Double, { number: 1 }, { timeoutMs: 100 }))
  await refused(t, ask(Double, { number: 1 }))
})

t.test('an answer of another shape is none', async (t) => {
  const { ask, answers } = await world(t)
  await answers(handleRpc(Double, async () => ({ doubled: 'many' }) as never))
  await refused(t, ask(Double, { number: 1 }, patient))
})

t.test('an answer that is nothing, or no JSON, is none', async (t) => {
  const { ask, answers, join } = await world(t)
  await answers(handleRpc(Double, async () => undefined as never))
  await refused(t, ask(Double, { number: 1 }, patient))

  const gamma = await join('gamma')
  gamma.current()?.subscribe('ask.gamma.double.v1.*', { callback: (_, message) => { message.respond('{"half": ') } })
  await gamma.current()?.flush()
  await refused(t, ask(ofGamma, { number: 1 }, patient))
})

t.test('who fails to answer says so at once, and answers the next question', async (t) => {
  const { ask, answers } = await world(t)
  await answers(handleRpc(Double, async ({ number }) => {
    if (number === 13) throw new Error('unlucky')
    return { doubled: number * 2 }
  }))
  await refused(t, ask(Double, { number: 13 }, patient))
  await refused(t, ask(Double, { number: 'x' as unknown as number }, patient))
  t.strictSame(await ask(Double, { number: 2 }), { doubled: 4 })
})

t.test('an answer that is too big for NATS is a failure like another', async (t) => {
  const { ask, answers } = await world(t)
  await answers(handleRpc(Much, async () => 'x'.repeat(2_000_000)), double)
  await refused(t, ask(Much, {}, patient))
  t.strictSame(await ask(Double, { number: 2 }), { doubled: 4 })
})

t.test('while NATS is away a question is refused at once, and answered again after it returns', async (t) => {
  const { nats, ask, bus, answers } = await world(t)
  const beta = await answers(double)
  await nats.kill()
  await until(() => bus.current() === undefined)
  await refused(t, ask(Double, { number: 1 }, patient))
  await nats.wipe()
  await nats.start()
  await until(() => bus.current() !== undefined && beta.current() !== undefined)
  await until(async () => await ask(Double, { number: 2 }).then(({ doubled }) => doubled === 4, () => false))
})

t.test('the trace of who asks goes on where it is answered', async (t) => {
  const { ask, answers } = await world(t)
  let seen: string | undefined
  await answers(handleRpc(Double, async ({ number }) => {
    seen = trace.getSpanContext(context.active())?.traceId
    return { doubled: number * 2 }
  }))
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const active = trace.setSpanContext(context.active(), { traceId, spanId: 'b7ad6b7169203331', traceFlags: 1 })
  await context.with(active, async () => await ask(Double, { number: 1 }))
  t.equal(seen, traceId)
})

t.test('closing answers what was asked before, and leaves what comes after to other replicas', async (t) => {
  const { ask, answers } = await world(t)
  let begun = 0
  const closing = await answers(handleRpc(Double, async ({ number }) => {
    begun++
    await sleep(200)
    return { doubled: number * 2 }
  }))
  const asked = upTo(10).map(async (number) => await ask(Double, { number }))
  await until(() => begun === 10)
  await answers(double)
  const closed = closing.close()
  t.strictSame(await Promise.all(asked), upTo(10).map((number) => ({ doubled: number * 2 })))
  for (const number of upTo(20)) t.strictSame(await ask(Double, { number }), { doubled: number * 2 })
  await closed
  t.equal(begun, 10)
})

t.test('Unavailable is the error that clients of a service know', (t) => {
  t.match(new Unavailable(), { code: 'SERVICE_UNAVAILABLE', statusCode: 503 })
  t.end()
})
