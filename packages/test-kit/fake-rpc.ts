import { type CallRpc, type RpcHandler } from '@tandem/bus-kit'
import { Unavailable } from '@tandem/process-kit'

/**
 * Creates the `callRpc` of a test, in which `providers` stand for the other services: `handleRpc(Person, async () => …)`.
 * A call that none of them provides throws Unavailable, and so does every call while `isUnavailable` returns true.
 */
export function fakeRpc (providers: RpcHandler[], isUnavailable = () => false): CallRpc {
  return async (rpc, request) => {
    const provider = providers.find((each) => each.rpc.type === rpc.type)
    if (!provider || isUnavailable()) throw new Unavailable()
    // `handleRpc` has checked the type of the response.
    return await provider.handle(request) as never
  }
}
