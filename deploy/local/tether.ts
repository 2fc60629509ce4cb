import { spawnSync } from 'node:child_process'

export interface User {
  uid: number
  gid: number
  /** It needs files below a folder that is closed to it, such as /root. */
  shutOut: boolean
}

/**
 * The command that runs a program as `user`, and has the kernel stop it when this process dies, however it dies.
 * Without `setpriv` (macOS) nothing does that, and the next start of the launcher cleans up.
 */
export function spawnWithParentDeathSignal (file: string, args: string[], signal: NodeJS.Signals = 'SIGTERM', user?: User) {
  const tether = ['--pdeathsig', signal.slice('SIG'.length)]
  if (user) tether.push('--reuid', String(user.uid), '--regid', String(user.gid), '--clear-groups')
  if (user?.shutOut) tether.push('--inh-caps=+dac_override', '--ambient-caps=+dac_override')
  if (works(tether)) return { program: 'setpriv', rest: [...tether, file, ...args], ids: {} }
  return { program: file, rest: args, ids: user ? { uid: user.uid, gid: user.gid } : {} }
}

const known = new Map<string, boolean>()

function works (tether: string[]): boolean {
  const key = tether.join(' ')
  const answer = known.get(key) ?? spawnSync('setpriv', [...tether, 'true']).status === 0
  known.set(key, answer)
  return answer
}
