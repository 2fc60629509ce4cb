import { ConfigError } from '@tandem/process-kit'

export const DEFAULT_CONSOLE_URL = 'http://localhost:8090'

/** Where the operators' console is. Passkeys are bound to its host. */
export interface ConsoleSettings {
  origin: string
  host: string
}

/** @throws ConfigError unless a browser allows passkeys there */
export function readConsoleSettings (url: string): ConsoleSettings {
  const { protocol, hostname, origin } = new URL(url)
  if (protocol !== 'https:' && hostname !== 'localhost') {
    throw new ConfigError('CONSOLE_URL must begin with https://, or be on localhost')
  }
  return { origin, host: hostname }
}
