import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { UserError, screen } from './screen.ts'

const REDIS = ['redis-server', 'valkey-server']
const NATS = ['nats-server']
// Debian installs nats-server where only root has a PATH, Homebrew where only login shells have one.
const EXTRA_FOLDERS = ['/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/opt/homebrew/bin', '/opt/homebrew/sbin']

export interface Programs {
  redis: string
  nats: string
}

/**
 * Finds Redis (or Valkey) and NATS, and installs them if that needs no question.
 * @throws UserError that says what to install
 */
export function findPrograms ({ redis = true, nats = true } = {}): Programs {
  const missing =
    () => [...(redis && !find(REDIS) ? ['redis-server'] : []), ...(nats && !find(NATS) ? ['nats-server'] : [])]

  const packages = missing()
  if (packages.length > 0 && isDebianRoot()) installPackages(packages)
  const wanted = missing()
  if (wanted.length > 0) {
    const variables = wanted.map((name) => name === 'redis-server' ? 'REDIS_URL' : 'NATS_URL').join(' and ')
    throw new UserError(`${installHint(wanted)}, or set ${variables} to a running one`)
  }
  return { redis: find(REDIS) ?? '', nats: find(NATS) ?? '' }
}

/**
 * Finds a program, and installs the Debian package of this name if it is missing and that needs no question.
 * @throws UserError that says what to install
 */
export function findProgram (name: string): string {
  if (!find([name]) && isDebianRoot()) installPackages([name])
  const program = find([name])
  if (!program) throw new UserError(installHint([name]))
  return program
}

function find (names: string[]): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), ...EXTRA_FOLDERS]
  return names.flatMap((name) => folders.map((folder) => path.join(folder, name))).find(isExecutable)
}

function isExecutable (file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function isDebianRoot (): boolean {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
}

function installPackages (names: string[]) {
  screen.step(`Installing ${names.join(' and ')} with apt-get …`)
  // Without this policy, Debian would start both as daemons on their default ports.
  const policy = '/usr/sbin/policy-rc.d'
  const isOurs = !existsSync(policy)
  if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    const get = (...args: string[]) =>
      spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=120', ...args], {
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
        stdio: ['ignore', 'ignore', 'inherit']
      }).status === 0
    if (!get('install', '--no-install-recommends', '-y', ...names)) {
      get('update')
      get('install', '--no-install-recommends', '-y', ...names)
    }
  } finally {
    if (isOurs) rmSync(policy, { force: true })
  }
}

function installHint (names: string[]): string {
  const how = process.platform === 'darwin'
    ? `brew install ${names.map((name) => name === 'redis-server' ? 'redis' : name).join(' ')}`
    : existsSync('/usr/bin/apt-get')
    ? `sudo apt-get install ${names.join(' ')}`
    : `install ${names.join(' and ')} with your package manager`
  return `${names.join(' and ')} not found on the PATH: ${how}`
}
