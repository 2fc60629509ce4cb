import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { findProgram } from '@tandem/local-servers/programs.ts'
import { freePort, startProcess, startRedis, until } from '@tandem/test-kit'
import type { UpstreamInfo } from './upstream-process.ts'

export interface Proxy {
  name: string
  /** Where it serves the routes of the upstream. */
  url: string
  pid: number
}

/** The proxies in front of one upstream, and the header of a caller that all of them accept. */
export interface Proxies {
  proxies: Proxy[]
  authorization: string
}

interface Teardown {
  teardown: (close: () => unknown) => unknown
}

/**
 * Starts the upstream, Redis and, in front of them, the gateway with its default settings, the prototype, the stock
 * plugins, nginx and Caddy. @param only their names; default all
 * @throws UserError if nginx or Caddy is missing and cannot be installed
 */
export async function startProxies (t: Teardown, only = ['gateway', ...Object.keys(starts)]): Promise<Proxies> {
  const [info, redis] = await Promise.all([
    forkProcess<UpstreamInfo>(t, 'upstream', {}),
    startRedis(t)
  ])
  const upstream = `http://127.0.0.1:${info.message.port}`
  const { rootKey, publicKey, authorization } = info.message
  const references = Object.entries(starts).filter(([name]) => only.includes(name))
  const proxies = [
    ...only.includes('gateway')
      ? [
        await startGateway(t, 'gateway', { upstream, redisUrl: redis.url, rootKey, NODE_ENV: 'production' }),
        await startGateway(t, 'gateway, all log lines', { upstream, redisUrl: redis.url, rootKey, NODE_ENV: undefined })
      ]
      : [],
    ...await Promise.all(references.map(async ([name, start]) => ({
      name,
      ...await start(t, { UPSTREAM: upstream, REDIS_URL: redis.url, PUBLIC_KEY: publicKey })
    })))
  ]
  return { proxies, authorization }
}

type Variables = Record<'UPSTREAM' | 'REDIS_URL' | 'PUBLIC_KEY', string>

const starts: Record<string, (t: Teardown, variables: Variables) => Promise<Omit<Proxy, 'name'>>> = {
  'prototype': async (t, variables) => await startFork(t, 'prototype', variables),
  'stock plugins': async (t, variables) => await startFork(t, 'stock-chain', variables),
  'nginx': startNginx,
  'Caddy': startCaddy
}

async function startGateway (
  t: Teardown,
  name: string,
  { upstream, redisUrl, rootKey, NODE_ENV }: {
    upstream: string,
    redisUrl: string,
    rootKey: string,
    NODE_ENV: string | undefined
  }
): Promise<Proxy> {
  const services = ['IDENTITY', 'PROFILE', 'SOCIAL', 'FITMATCH', 'DASHBOARD', 'NOTIFICATION']
  const gateway = await startProcess(t, 'gateway/main.ts', {
    ...Object.fromEntries(services.map((name) => [`${name}_URL`, upstream])),
    IDENTITY_ROOT_PUBLIC_KEYS: rootKey,
    REDIS_URL: redisUrl,
    LOG_LEVEL: 'info',
    NODE_ENV,
    // All load comes from one address. The limit is on, and higher than the load.
    FLOOD_LIMIT: '9999999/1m'
  })
  return { name, url: `http://127.0.0.1:${gateway.port}/api/mobile/v1`, pid: gateway.pid ?? 0 }
}

async function startFork (t: Teardown, name: string, variables: Variables) {
  const { message, pid } = await forkProcess<{ port: number }>(t, name, variables)
  return { url: `http://127.0.0.1:${message.port}`, pid }
}

async function forkProcess<Message> (t: Teardown, name: string, variables: Partial<Variables>) {
  const child = fork(path.join(import.meta.dirname, `${name}-process.ts`), { env: { ...process.env, ...variables } })
  t.teardown(async () => {
    if (child.exitCode !== null) return
    child.disconnect()
    await once(child, 'exit')
  })
  const message = await Promise.race([
    once(child, 'message').then(([first]) => first as Message),
    once(child, 'exit').then(() => {
      throw new Error(`${name} did not start`)
    })
  ])
  return { message, pid: child.pid ?? 0 }
}

async function startNginx (t: Teardown, { UPSTREAM }: Variables) {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path temp;`)
  return await startProgram(t, findProgram('nginx', 'nginx-light'), (port, folder) => ({
    file: 'nginx.conf',
    text: `
      daemon off; master_process off; worker_processes 1; error_log stderr crit; pid ${folder}/pid;
      events { worker_connections 1024; }
      http {
        access_log off; keepalive_requests 1000000000; ${temporary.join(' ').replaceAll('temp;', `${folder}/temp;`)}
        upstream service { server ${new URL(UPSTREAM).host}; keepalive 64; keepalive_requests 1000000000; }
        server {
          listen 127.0.0.1:${port};
          location / { proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; }
        }
      }`,
    args: ['-p', folder, '-c', path.join(folder, 'nginx.conf')]
  }))
}

async function startCaddy (t: Teardown, { UPSTREAM }: Variables) {
  return await startProgram(t, findProgram('caddy'), (port, folder) => ({
    file: 'Caddyfile',
    text: `
      {
        admin off
        auto_https off
      }
      http://127.0.0.1:${port} {
        reverse_proxy ${new URL(UPSTREAM).host}
      }`,
    args: ['run', '--adapter', 'caddyfile', '--config', path.join(folder, 'Caddyfile')]
  }))
}

interface Setup {
  file: string
  text: string
  args: string[]
}

async function startProgram (t: Teardown, program: string, configure: (port: number, folder: string) => Setup) {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-proxy-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await mkdir(path.join(folder, 'temp'))
  const port = await freePort()
  const { file, text, args } = configure(port, folder)
  await writeFile(path.join(folder, file), text)
  // One thread, as the other proxies have.
  const child = spawn(program, args, { stdio: 'ignore', env: { ...process.env, GOMAXPROCS: '1' } })
  t.teardown(async () => {
    child.kill()
    await once(child, 'exit')
  })
  const url = `http://127.0.0.1:${port}`
  await until(async () => await fetch(url).then(({ ok }) => ok, () => false))
  return { url, pid: child.pid ?? 0 }
}
