import { setTimeout as sleep } from 'node:timers/promises'
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { defineRpc } from '@tandem/contracts'
import { startNats, until } from '@tandem/test-kit'
import t, { type Test } from 'tap'
import Type from 'typebox'
import {
  handleRpc,
  createRpcClient,
  connectBus,
  natsRights,
  startRpcHandlers,
  type RpcHandler,
  type CallRpc
} from './index.ts'
import { Unavailable } from '@tandem/process-kit'
import { log, upTo } from './test-bus.ts'

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

/** A caller, and replicas of a provider. */
async function startRpc (t: Test) {
  const nats = await startNats(t, { rights })
  const connectAs = async (service: string) => {
    const bus = connectBus(nats.urlOf(service), { service, log })
    t.teardown(() => bus.close())
    await until(() => bus.current() !== undefined)
    return bus
  }
  const alpha = await connectAs('alpha')
  return {
    nats,
    connectAs,
    bus: alpha,
    callRpc: createRpcClient(alpha),
    async provide (...rpcHandlers: RpcHandler[]) {
      const bus = await connectAs('beta')
      startRpcHandlers(bus, rpcHandlers)
      await bus.current()?.flush()
      return bus
    }
  }
}

/** Long enough to tell a failure from a timeout on a busy machine. */
const longTimeout = { timeoutMs: 10_000 }

async function rejectsAsUnavailable (t: Test, call: ReturnType<CallRpc>) {
  const since = performance.now()
  await t.rejects(call, { code: 'SERVICE_UNAVAILABLE', statusCode: 503 })
  t.ok(performance.now() - since < longTimeout.timeoutMs / 2)
}

t.test('a call gets its response', async (t) => {
  const { callRpc, provide } = await startRpc(t)
  await provide(double)
  t.strictSame(await callRpc(Double, { number: 21 }), { doubled: 42 })
})

t.test('replicas share the calls', async (t) => {
  const { callRpc, provide } = await startRpc(t)
  const calls = [0, 0]
  for (const index of [0, 1]) {
    await provide(handleRpc(Double, async ({ number }) => {
      calls[index]!++
      return { doubled: number * 2 }
    }))
  }
  await Promise.all(upTo(100).map(async (number) => await callRpc(Double, { number })))
  t.equal(calls[0]! + calls[1]!, 100)
  t.ok(Math.min(...calls) > 10)
})

t.test('a call without a provider fails at once', async (t) => {
  const { callRpc } = await startRpc(t)
  await rejectsAsUnavailable(t, callRpc(Double, { number: 1 }, longTimeout))
})

t.test('a call waits no longer than its timeout', async (t) => {
  const { callRpc, provide } = await startRpc(t)
  await provide(handleRpc(Double, async () => {
    await sleep(7_000)
    return { doubled: 0 }
  }))
  await rejectsAsUnavailable(t, callRpc(Double, { number: 1 }, { timeoutMs: 100 }))
  await rejectsAsUnavailable(t, callRpc(Double, { number: 1 }))
})

t.test('a response that does not match the schema fails the call', async (t) => {
  const { callRpc, provide } = await startRpc(t)
  await provide(handleRpc(Double, async () => ({ doubled: 'many' }) as never))
  await rejectsAsUnavailable(t, callRpc(Double, { number: 1 }, longTimeout))
})

t.test('an empty response, or one that is not JSON, fails the call', async (t) => {
  const { callRpc, provide, connectAs } = await startRpc(t)
  await provide(handleRpc(Double, async () => undefined as never))
  await rejectsAsUnavailable(t, callRpc(Double, { number: 1 }, longTimeout))

  const gamma = await connectAs('gamma')
  gamma.current()?.subscribe('ask.gamma.double.v1.*', {
    callback: (_, message) => {
      message.respond('{"half": ')
    }
  })
  await gamma.current()?.flush()
  await rejectsAsUnavailable(t, callRpc(ofGamma, { number: 1 }, longTimeout))
})

t.test('a handler that throws fails the call at once and handles the next one', async (t) => {
  const { callRpc, provide } = await startRpc(t)
  await provide(handleRpc(Double, async ({ number }) => {
    if (number === 13) throw new Error('unlucky')
    return { doubled: number * 2 }
  }))
  await rejectsAsUnavailable(t, callRpc(Double, { number: 13 }, longTimeout))
  await rejectsAsUnavailable(t, callRpc(Double, { number: 'x' as unknown as number }, longTimeout))
  t.strictSame(await callRpc(Double, { number: 2 }), { doubled: 4 })
})

t.test('a response that is too large for NATS fails the call', async (t) => {
  const { callRpc, provide } = await startRpc(t)
  await provide(handleRpc(Much, async () => 'x'.repeat(2_000_000)), double)
  await rejectsAsUnavailable(t, callRpc(Much, {}, longTimeout))
  t.strictSame(await callRpc(Double, { number: 2 }), { doubled: 4 })
})

t.test('while NATS is down a call fails at once, and succeeds again after NATS returns', async (t) => {
  const { nats, callRpc, bus, provide } = await startRpc(t)
  const beta = await provide(double)
  await nats.kill()
  await until(() => bus.current() === undefined)
  await rejectsAsUnavailable(t, callRpc(Double, { number: 1 }, longTimeout))
  await nats.wipe()
  await nats.start()
  await until(() => bus.current() !== undefined && beta.current() !== undefined)
  await until(async () => await callRpc(Double, { number: 2 }).then(({ doubled }) => doubled === 4, () => false))
})

t.test('the trace of the caller continues in the handler', async (t) => {
  const { callRpc, provide } = await startRpc(t)
  let seen: string | undefined
  await provide(handleRpc(Double, async ({ number }) => {
    seen = trace.getSpanContext(context.active())?.traceId
    return { doubled: number * 2 }
  }))
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const active = trace.setSpanContext(context.active(), { traceId, spanId: 'b7ad6b7169203331', traceFlags: 1 })
  await context.with(active, async () => await callRpc(Double, { number: 1 }))
  t.equal(seen, traceId)
})

t.test('a close finishes running calls and leaves later ones to other replicas', async (t) => {
  const { callRpc, provide } = await startRpc(t)
  let started = 0
  const closing = await provide(handleRpc(Double, async ({ number }) => {
    started++
    await sleep(200)
    return { doubled: number * 2 }
  }))
  const calls = upTo(10).map(async (number) => await callRpc(Double, { number }))
  await until(() => started === 10)
  await provide(double)
  const closed = closing.close()
  t.strictSame(await Promise.all(calls), upTo(10).map((number) => ({ doubled: number * 2 })))
  for (const number of upTo(20)) t.strictSame(await callRpc(Double, { number }), { doubled: number * 2 })
  await closed
  t.equal(started, 10)
})

t.test('Unavailable has the code and status that clients know', (t) => {
  t.match(new Unavailable(), { code: 'SERVICE_UNAVAILABLE', statusCode: 503 })
  t.end()
})
