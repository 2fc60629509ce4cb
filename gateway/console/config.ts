import { isIP } from 'node:net'
import { ConfigError, List, ProcessEnvironment, readConfig, Url } from '@tandem/process-kit'
import { Type } from 'typebox'
import { serviceNames, type ServiceName } from './services.ts'

// This machine, and the ranges of RFC 1918 and RFC 4193: local networks, VPNs, Docker and the nodes of a cluster.
const PRIVATE_NETWORKS = ['127.0.0.0/8', '::1', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']

const addressVariableOf = (service: ServiceName) => `${service.toUpperCase()}_URL`

const environment = Type.Object({
  ...ProcessEnvironment,
  PORT: Type.Integer({ ...ProcessEnvironment.PORT, default: 8090 }),
  ...Object.fromEntries(
    serviceNames.map((name) => [
      addressVariableOf(name),
      Url({ pattern: '^https?://', description: `Address of ${name}` })
    ])
  ),
  CONSOLE_URL: Url({
    default: 'http://localhost:8090',
    description: 'Where operators open the console: https, or localhost. Passkeys are bound to its host'
  }),
  CONSOLE_ALLOW: List({
    default: PRIVATE_NETWORKS.join(),
    description:
      'The client addresses and CIDR ranges that can open it, separated by commas; default this machine and private networks'
  })
})

export type ConsoleConfig = ReturnType<typeof readConsoleConfig>

/** @throws ConfigError that names every missing or invalid variable */
export function readConsoleConfig (env: NodeJS.ProcessEnv = process.env) {
  const config = readConfig(environment, env)
  const { protocol, hostname, origin, host, pathname } = new URL(config.CONSOLE_URL)
  if (!['https:', 'http:'].includes(protocol) || (protocol === 'http:' && hostname !== 'localhost')) {
    throw new ConfigError('CONSOLE_URL must begin with https://, or be on localhost')
  }
  // The console has no TLS of its own: it would compare the address of the proxy with CONSOLE_ALLOW.
  if (protocol === 'https:' && config.TRUST_PROXY.length === 0) {
    throw new ConfigError('CONSOLE_URL with https needs TRUST_PROXY, the address of the proxy in front of the console')
  }
  if (pathname !== '/') throw new ConfigError('CONSOLE_URL must have no path')
  if (!config.CONSOLE_ALLOW.every((range) => isRange(range))) {
    throw new ConfigError('CONSOLE_ALLOW must be IP addresses or CIDR ranges, separated by commas')
  }
  const variables = config as Record<string, unknown>
  const upstreams = Object.fromEntries(
    serviceNames.map((name) => [name, String(variables[addressVariableOf(name)])])
  ) as Record<ServiceName, string>
  return { ...config, origin, host, upstreams }
}

function isRange (range: string) {
  const [address = '', prefix, ...rest] = range.split('/')
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  return bits > 0 && rest.length === 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))
}
