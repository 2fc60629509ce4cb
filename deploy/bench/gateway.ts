import { createPublicKey, type webcrypto } from 'node:crypto'
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import { freePort } from '@tandem/test-kit'
import { cpuTime } from './cpu.ts'
import { becomeMember } from './people.ts'
import { withStack, type Stack } from './stack.ts'
import { median } from './table.ts'

// Measures CPU time per request, which varies less than throughput: of the gateway, of the same work done by stock
// plugins, and of nginx as a plain proxy, if it is installed. Rounds alternate between them.
const ROUNDS = 5
const SECONDS = 4
const CONNECTIONS = 8

interface Proxy {
  name: string
  url: string
  pid: number
  stop?: () => Promise<unknown>
}

await withStack(async (stack) => {
  const { accessToken } = await becomeMember(stack, 'runner@example.com')
  const proxies = [
    { name: 'gateway', url: `${stack.gateway.url}/api/mobile/v1`, pid: stack.gateway.pid ?? 0 },
    await startStockChain(stack),
    ...await startNginx(stack)
  ]
  try {
    const rounds = new Map(proxies.map(({ name }) => [name, [] as number[]]))
    for (let round = 0; round <= ROUNDS; round++) {
      for (const { name, url, pid } of proxies) {
        const before = await cpuTime(pid)
        const { non2xx, errors, requests, statusCodeStats } = await autocannon({
          url: `${url}/auth/sessions`,
          headers: { authorization: `Bearer ${accessToken}` },
          connections: CONNECTIONS,
          duration: SECONDS
        })
        if (non2xx + errors > 0) {
          throw new Error(`${name}: ${non2xx + errors} requests failed: ${JSON.stringify(statusCodeStats)}`)
        }
        // The first round warms up.
        if (round > 0) rounds.get(name)?.push((await cpuTime(pid) - before) / requests.total)
      }
    }
    const gateway = median(rounds.get('gateway') ?? [])
    for (const [name, figures] of rounds) {
      const figure = median(figures)
      const ratio = (figure / gateway).toFixed(2)
      console.log(
        `${name.padEnd(13)} ${figure.toFixed(1).padStart(7)} µs of CPU per request, ${ratio} times the gateway`
      )
    }
  } finally {
    for (const { stop } of proxies as Proxy[]) await stop?.()
  }
})

async function startStockChain (stack: Stack): Promise<Proxy> {
  const { keys: [key] } = await (await fetch(`${stack.gateway.url}/.well-known/jwks.json`)).json() as {
    keys: webcrypto.JsonWebKey[]
  }
  if (!key) throw new Error('identity publishes no key')
  const child = fork(path.join(import.meta.dirname, 'stock-chain.ts'), {
    env: {
      ...process.env,
      UPSTREAM: stack.services['identity']?.url,
      REDIS_URL: stack.redis.url,
      PUBLIC_KEY: createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' }) as string
    }
  })
  const [{ port }] = await once(child, 'message') as [AddressInfo]
  return {
    name: 'stock plugins',
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    stop: async () => {
      child.disconnect()
    }
  }
}

async function startNginx (stack: Stack): Promise<Proxy[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-nginx-'))
  const port = await freePort()
  await mkdir(path.join(folder, 'temp'))
  const { host } = new URL(stack.services['identity']?.url ?? '')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) =>
    `${name}_temp_path ${folder}/temp;`
  )
  await writeFile(
    path.join(folder, 'nginx.conf'),
    `
    daemon off; master_process off; worker_processes 1; error_log stderr crit; pid ${folder}/pid;
    events { worker_connections 1024; }
    http {
      access_log off; keepalive_requests 1000000000; ${temporary.join(' ')}
      upstream identity { server ${host}; keepalive 64; keepalive_requests 1000000000; }
      server {
        listen 127.0.0.1:${port};
        location / { proxy_pass http://identity; proxy_http_version 1.1; proxy_set_header Connection ""; }
      }
    }`
  )
  const nginx = spawn('nginx', ['-p', folder, '-c', path.join(folder, 'nginx.conf')], { stdio: 'ignore' })
  const stop = async () => {
    nginx.kill()
    await rm(folder, { recursive: true, force: true })
  }
  const isRunning = await Promise.race([
    once(nginx, 'error').then(() => false),
    once(nginx, 'exit').then(() => false),
    sleep(500).then(() => true)
  ])
  if (isRunning) return [{ name: 'nginx', url: `http://127.0.0.1:${port}`, pid: nginx.pid ?? 0, stop }]
  await stop()
  return []
}
