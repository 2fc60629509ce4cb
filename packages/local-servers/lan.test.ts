import type { NetworkInterfaceInfo } from 'node:os'
import t from 'tap'
import { findLanAddress } from './lan.ts'

const at = (address: string, { family = 'IPv4', internal = false } = {}) =>
  [{ address, family, internal, netmask: '', mac: '', cidr: null }] as NetworkInterfaceInfo[]

t.test('the address of this machine is one that a phone in the network reaches', async (t) => {
  t.equal(
    findLanAddress({
      lo: at('127.0.0.1', { internal: true }),
      docker0: at('172.17.0.1'),
      en5: at('169.254.10.1'),
      en0: [...at('fe80::1', { family: 'IPv6' }), ...at('192.168.1.20')]
    }),
    '192.168.1.20'
  )
  t.equal(findLanAddress({ lo: at('127.0.0.1', { internal: true }) }), undefined)
})
