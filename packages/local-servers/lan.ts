import { networkInterfaces } from 'node:os'

// Bridges of containers and virtual machines: a phone does not reach them.
const VIRTUAL = /^(docker|br-|veth|virbr|vmnet|vboxnet|utun|tun|tap|wg|tailscale|zt)/

/** The IPv4 address at which other devices in the same network reach this machine. */
export function findLanAddress (interfaces = networkInterfaces()): string | undefined {
  return Object.entries(interfaces)
    .filter(([name]) => !VIRTUAL.test(name))
    .flatMap(([, addresses]) => addresses ?? [])
    .find(({ family, internal, address }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'))
    ?.address
}
