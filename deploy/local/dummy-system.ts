import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { processSignature } from '@tandem/local-servers/pid-files.ts'
import type { Teardown } from '@tandem/test-kit'

// A Tandem of two services and a gateway that do nothing, for the tests of the launcher.

const logging = path.resolve(import.meta.dirname, '../../packages/process-kit/logging.ts')

// Its log lines are those of the real logger, since the launcher has to know them from others.
const PROCESS = `
import { createServer } from 'node:http'
import { createLogger } from '${logging}'
const log = createLogger('dummy', 'info')
process.on('disconnect', () => process.exit(0))
process.on('SIGTERM', () => process.exit(0))
createServer((request, response) => {
  if (request.url === '/crash') process.exit(3)
  if (request.url === '/warn') log.warn('something to look at')
  if (request.url === '/inform') log.info('nothing to look at')
  response.end(JSON.stringify(process.env))
}).listen(process.env.PORT, process.env.HOST)
`

export interface Stack {
  gateway: { url: string, pid: number }
  services: Record<string, { url: string, pid: number }>
  postgres: { url: string, pid: number }
  redis: { url: string, pid: number }
  nats: { url: string, pid: number }
  mail: { smtpUrl: string, url: string } | null
  devPage: { url: string }
  settings: Record<string, string>
}

export interface Launch {
  process: ChildProcess
  output: () => string
  /** The exit code, or the signal. */
  ended: Promise<number | string | null>
}

export interface DummySystem {
  root: string
  dataDir: string
  launch: (options?: { args?: string[], env?: NodeJS.ProcessEnv }) => Launch
  /** stack.json once it is there and `fits`. */
  stack: (fits?: (stack: Stack) => boolean) => Promise<Stack>
}

export function dummySystem (t: Teardown): DummySystem {
  const root = mkdtempSync(path.join(tmpdir(), 'tandem-dummy-'))
  const dataDir = path.join(root, '.data')
  for (const folder of ['gateway', 'services/identity', 'services/social']) {
    mkdirSync(path.join(root, folder), { recursive: true })
    writeFileSync(path.join(root, folder, 'main.ts'), PROCESS)
    writeFileSync(path.join(root, folder, 'package.json'), '{ "type": "module" }')
  }
  mkdirSync(path.join(root, 'packages'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))

  const outputs: Array<() => string> = []
  return {
    root,
    dataDir,
    launch ({ args = [], env = {} } = {}) {
      const child = spawn(process.execPath, [path.join(import.meta.dirname, 'start.ts'), '--root', root, ...args], {
        env: { ...process.env, NO_COLOR: '1', DATA_DIR: dataDir, ...env },
        stdio: ['ignore', 'pipe', 'pipe']
      })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk: Buffer) => {
          output += chunk.toString()
        })
      }
      const ended = new Promise<number | string | null>((resolve) =>
        child.on('close', (code, signal) => resolve(code ?? signal))
      )
      t.teardown(async () => {
        child.kill()
        await ended
      })
      outputs.push(() => output)
      return { process: child, output: () => output, ended }
    },
    async stack (fits = () => true) {
      return await eventually(() => {
        const file = path.join(dataDir, 'stack.json')
        const stack = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) as Stack : undefined
        if (!stack || !fits(stack)) {
          throw new Error(
            `stack.json is not as expected: ${JSON.stringify(stack)}\n${outputs.map((output) => output()).join('\n')}`
          )
        }
        return stack
      })
    }
  }
}

export function pids ({ gateway, services, postgres, redis, nats }: Stack): number[] {
  return [gateway, ...Object.values(services), postgres, redis, nats].map(({ pid }) => pid)
}

export function isAlive (pid: number): boolean {
  return processSignature(pid) !== `${pid} `
}

/** What `work` returns once it no longer throws. Two minutes are for slow machines that have much else to do. */
export async function eventually<Result> (work: () => Result | Promise<Result>): Promise<Result> {
  for (const end = Date.now() + 120_000;; await sleep(50)) {
    try {
      return await work()
    } catch (error) {
      if (Date.now() > end) throw error
    }
  }
}
