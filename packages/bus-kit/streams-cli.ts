// Creates and purges the streams of the given services: a small process with its own NATS user.
import Type from 'typebox'
import { ConfigError, ProcessEnvironment, readConfig, run, serveMetrics, Urls } from '@tandem/process-kit'
import { connectBus } from './connection.ts'
import { startStreamManager, STREAM_MANAGER_USER } from './stream-manager.ts'

const Config = Type.Object({
  HOST: ProcessEnvironment.HOST,
  METRICS_PORT: ProcessEnvironment.METRICS_PORT,
  NATS_URL: Urls(),
  STREAM_REPLICAS: Type.Integer({ minimum: 1, maximum: 5, default: 1, description: 'The copies of each new stream' }),
  STREAM_MAX_MIB: Type.Integer({
    minimum: 1,
    default: 256,
    description: 'The size of each new stream, which NATS reserves on its disk'
  })
})

await run(STREAM_MANAGER_USER, async (onClose, log) => {
  const services = process.argv.slice(2)
  if (services.length === 0) throw new ConfigError('usage: node packages/bus-kit/streams-cli.ts <service>…')
  const { HOST, METRICS_PORT, NATS_URL, STREAM_REPLICAS, STREAM_MAX_MIB } = readConfig(Config)
  const bus = connectBus(NATS_URL, { service: STREAM_MANAGER_USER, log })
  onClose(() => bus.close())
  const manager = startStreamManager(bus, services, { replicas: STREAM_REPLICAS, maxMib: STREAM_MAX_MIB })
  onClose(() => manager.stop())
  const metrics = await serveMetrics(METRICS_PORT, HOST)
  onClose(() => metrics.close())
})
