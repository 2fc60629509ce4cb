import processTest from 'tap'
import { withStack, type Stack } from './stack.ts'

const environment = {
  CONSOLE_PORT: '',
  LIMIT_PROFILE: 'relaxed',
  WEBHOOK_PRIVATE_HOSTS: '127.0.0.1'
}

let shared: Promise<{ stack: Stack, dataDir: string }> | undefined

/**
 * The system that all `*.system.test.ts` files of a process use, one after the other: a start takes twelve seconds of
 * processor time. Each file has people with addresses of its own, and finds those of others there.
 */
export async function sharedStack () {
  shared ??= new Promise((resolve, reject) => {
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    const running = withStack(async (stack, dataDir) => {
      resolve({ stack, dataDir })
      await isOver
    }, environment)
    running.catch(reject)
    processTest.teardown(async () => {
      end()
      await running
    })
  })
  return await shared
}
