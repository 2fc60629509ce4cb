import t from 'tap'
import { maskAddress, networkOf } from './addresses.ts'

t.test('any address is masked and reduced to its network', (t) => {
  for (
    const [address, masked, network] of [
      ['203.0.113.7', '203.0.*.*', '203.0.113.0/24'],
      ['::ffff:203.0.113.7', '203.0.*.*', '203.0.113.0/24'],
      ['2001:db8:1:2::3', '2001:db8:*', '2001:db8:1::/48'],
      ['::1', '0:0:*', '::/48'],
      ['fe80::1%eth0', 'fe80:0:*', 'fe80::/48'],
      ['unknown', 'unknown', 'unknown'],
      ['', 'unknown', 'unknown']
    ] as const
  ) t.strictSame([maskAddress(address), networkOf(address)], [masked, network], address)
  t.end()
})
