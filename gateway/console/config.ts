import { isIP } from 'node:net'
import { ConfigError, List, ProcessEnvironment, readConfig, Url } from '@tandem/process-kit'
import { Type } from 'typebox'
import { addressVariables, readAddresses } from '../addresses.ts'

const environment = Type.Object({
  ...ProcessEnvironment,
  PORT: Type.Integer({ ...ProcessEnvironment.PORT, default: 8090 }),
  ...addressVariables,
  CONSOLE_URL: Url({
    default: 'http://localhost:8090',
    description: 'Where operators open the console: https, or localhost. Passkeys are bound to its host'
  }),
  CONSOLE_ALLOW: List({
    description: 'The client addresses and CIDR ranges that can open it, separated by commas; default all'
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
  if (pathname !== '/') throw new ConfigError('CONSOLE_URL must have no path')
  if (!config.CONSOLE_ALLOW.every((range) => isRange(range))) {
    throw new ConfigError('CONSOLE_ALLOW must be IP addresses or CIDR ranges, separated by commas')
  }
  return { ...config, origin, host, upstreams: readAddresses(config as Record<string, unknown>) }
}

function isRange (range: string) {
  const [address = '', prefix, ...rest] = range.split('/')
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  return bits > 0 && rest.length === 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))
}
