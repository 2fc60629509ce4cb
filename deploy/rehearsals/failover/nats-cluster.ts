import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'nats'
import { freePort } from '@tandem/local-servers/ports.ts'
import { findPrograms } from '@tandem/local-servers/programs.ts'
import { start, type ProcessSpec, type Running } from '@tandem/local-servers/process.ts'
import { probe } from '@tandem/local-servers/servers.ts'

const SIZE = 3

/** A cluster of three NATS servers on this machine, without users. */
export async function startNatsCluster (folder: string) {
  const program = findPrograms({ redis: false }).nats
  const routePorts = await Promise.all(Array.from({ length: SIZE }, async () => await freePort()))
  const routes = routePorts.map((port) => `nats://127.0.0.1:${port}`).join(', ')
  const servers = new Map<string, { recipe: ProcessSpec, running: Running }>()

  await Promise.all(routePorts.map(async (routePort, index) => {
    const name = `nats${index + 1}`
    const dir = path.join(folder, name)
    await mkdir(dir)
    const port = await freePort()
    const config = path.join(dir, 'nats.conf')
    await writeFile(
      config,
      `listen: "127.0.0.1:${port}"
server_name: ${name}
jetstream { store_dir: "${dir}" }
cluster { name: tandem, listen: "127.0.0.1:${routePort}", routes: [${routes}] }
`
    )
    const recipe: ProcessSpec = {
      name,
      port,
      hasFixedPort: true,
      logFile: path.join(folder, `${name}.log`),
      command: () => ({ file: program, args: ['--config', config] }),
      isReady: async () => await probe(port, '"jetstream":true')
    }
    servers.set(name, { recipe, running: await start(recipe) })
  }))

  const url = `nats://${[...servers.values()].map(({ recipe }) => `127.0.0.1:${recipe.port}`).join()}`

  async function withManager<Result> (
    work: (manager: Awaited<ReturnType<Awaited<ReturnType<typeof connect>>['jetstreamManager']>>) => Promise<Result>
  ) {
    const connection = await connect({ servers: url.replace('nats://', '').split(',') })
    try {
      return await work(await connection.jetstreamManager({ checkAPI: false }))
    } finally {
      await connection.close()
    }
  }

  return {
    url,
    withManager,
    /** Kills the leader of a stream with SIGKILL; returns its name. */
    async killLeader (stream: string) {
      const leader = await withManager(async (manager) => (await manager.streams.info(stream)).cluster?.leader ?? '')
      await servers.get(leader)?.running.kill()
      return leader
    },
    async restart (name: string) {
      const server = servers.get(name)
      if (server) server.running = await start(server.recipe)
    },
    /** Waits until every stream has three copies that have all of its events. */
    async untilReplicated (streams: string[]) {
      for (;; await sleep(200)) {
        const states = await Promise.all(
          streams.map(async (stream) =>
            await withManager(async (manager) => await manager.streams.info(stream)).catch(() => undefined)
          )
        )
        if (states.every((state) => state?.cluster?.replicas?.filter(({ current }) => current).length === SIZE - 1)) {
          return
        }
      }
    },
    stop: async () => {
      await Promise.all([...servers.values()].map(async ({ running }) => await running.kill()))
    }
  }
}
