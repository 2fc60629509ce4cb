import { useRunningSystem } from './running-system.ts'

// `npm run operator -- <command>`: the commands of operators, in the system of DATABASE_URL, or else in that of
// `npm start`, which has to run.

/** The service that has a command, by its first word. Every other one is identity's. */
const services: Record<string, { service: string, cli: string }> = {
  producers: { service: 'notification', cli: '../../services/notification/producers/cli.ts' }
}
const identity = { service: 'identity', cli: '../../services/identity/operator/cli.ts' }

const [command = ''] = process.argv.slice(2)
const { service, cli } = services[command] ?? identity
if (!await useRunningSystem(service)) {
  console.error(`Set DATABASE_URL to that of ${service}, or run npm start first`)
  process.exit(1)
}
if (command === '') console.log(`Commands of others than identity: ${Object.keys(services).join(', ')}\n`)
await import(cli)
