/** The address at which this machine reaches a listener: a wildcard is the machine itself. */
export function origin (port: number, host = '127.0.0.1'): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

export const isWildcard = (host: string) => host === '0.0.0.0' || host === '::'

export const withoutPassword = (url: string): string => url.replace(/:[^:@/]+@/, '@')
