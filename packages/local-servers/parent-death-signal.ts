import { spawnSync } from 'node:child_process'

export interface User {
  uid: number
  gid: number
  /** Whether it needs files below a folder that is closed to it, such as /root. */
  needsDacOverride: boolean
}

/**
 * The command that runs a program as `user`, and makes the kernel signal it when this process dies for any reason.
 * Without `setpriv` (macOS), the next start of the launcher stops it.
 */
export function withParentDeathSignal (
  file: string,
  args: string[],
  signal: NodeJS.Signals = 'SIGTERM',
  user?: User
) {
  const options = ['--pdeathsig', signal.slice('SIG'.length)]
  if (user) options.push('--reuid', String(user.uid), '--regid', String(user.gid), '--clear-groups')
  if (user?.needsDacOverride) options.push('--inh-caps=+dac_override', '--ambient-caps=+dac_override')
  if (isSupported(options)) return { program: 'setpriv', rest: [...options, file, ...args], ids: {} }
  return { program: file, rest: args, ids: user ? { uid: user.uid, gid: user.gid } : {} }
}

const known = new Map<string, boolean>()

function isSupported (options: string[]): boolean {
  const key = options.join(' ')
  const supported = known.get(key) ?? spawnSync('setpriv', [...options, 'true']).status === 0
  known.set(key, supported)
  return supported
}
