/** The services, and the command lines of operators that their images contain. */
interface Command {
  /** The process whose container has the settings that the command needs. */
  process: string
  cli: string
  args: string[]
  /** A file of this machine among `args`. */
  file?: string | undefined
}

const ANY_SERVICE = '<service>'

/** Who has a command, by its first word. Identity has every other one. */
const owners: Record<string, { process: string, cli: string, usage: string }> = {
  'places': {
    process: 'fitmatch',
    cli: 'services/fitmatch/places/cli.ts',
    usage: `places import <file>                      import gyms from GeoParquet or lines of GeoJSON
  places remove | restore <id>              take a place out of the search for good; take that back`
  },
  'producers': {
    process: 'notification',
    cli: 'services/notification/producers/cli.ts',
    usage: `producers list | add <name> --events <type>,…  systems that send events, and their keys
  producers rotate | revoke <name>          another key; the end of a key or a producer`
  },
  'webhooks': {
    process: 'notification',
    cli: 'services/notification/webhooks/cli.ts',
    usage: `webhooks list | add <url> --events <type>,…  endpoints of other systems
  webhooks disable | enable <id>            send nothing more to one, or send to it again
  webhooks replay <id> --since <time>       send again what happened since then`
  },
  'failed-messages': {
    process: ANY_SERVICE,
    cli: 'packages/bus-kit/failed-messages-cli.ts',
    usage: `failed-messages <service> list            list the messages that it could not handle
  failed-messages <service> replay <key>…   have it try them again; all with --all`
  },
  'audit': {
    process: ANY_SERVICE,
    cli: 'packages/operator-kit/audit-cli.ts',
    usage: 'audit <service> verify                    recompute its audit; `staff audit` is that of identity'
  },
  'recover': {
    process: 'streams',
    cli: 'packages/bus-kit/recovery-cli.ts',
    usage:
      `recover consumers <service>               delete its consumers after a restore; needs NATS_URL of the operator
  recover streams                           delete all streams after a restore of everything; likewise`
  }
}
const identity = { process: 'identity', cli: 'services/identity/operator/cli.ts' }

export const usage = `npm run operator -- [--in compose|kubernetes] <command>

Without --in it uses the system of DATABASE_URL, or else that of npm start, which has to run. In compose it runs in another
container of the service, in Kubernetes in one of its pods. OPERATOR_IN=compose is the same as --in compose.

  ${Object.values(owners).map((owner) => owner.usage).join('\n  ')}

Every other command is identity's:
`

export function findCommand ([name = '', ...rest]: string[]): Command {
  const owner = owners[name]
  if (!owner) return { ...identity, args: name === '' ? [] : [name, ...rest] }
  const [first = '', ...others] = rest
  if (owner.process === ANY_SERVICE) return { process: first, cli: owner.cli, args: others }
  const file = name === 'places' && first === 'import' ? others.find((each) => !each.startsWith('--')) : undefined
  return { process: owner.process, cli: owner.cli, args: rest, file }
}

/** The command line that runs another one in the container of a process. @param compose how compose is called here */
export function containerCommand (place: string, process: string, compose: string[]): string[] | undefined {
  // Not in the running container: a service that cannot start, as with another SECRET, has none.
  if (place === 'compose') return [...compose, 'run', '--rm', '--no-deps', '-T', process]
  if (place === 'kubernetes') return ['kubectl', '--namespace', 'tandem', 'exec', '--stdin', `deploy/${process}`, '--']
  return undefined
}
