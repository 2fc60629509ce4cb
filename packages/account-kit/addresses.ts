import ipaddr from 'ipaddr.js'

const UNKNOWN = 'unknown'

/** The network of an IP address: its IPv4 /24 or IPv6 /48. */
export function networkOf (address: string) {
  // Behind a proxy the address is whatever the proxy reports, which need not be a valid one.
  if (!ipaddr.isValid(address)) return UNKNOWN
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv4'
    ? `${ipaddr.IPv4.networkAddressFromCIDR(`${parsed.toString()}/24`).toString()}/24`
    : `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString().split('%')[0]}/48`).toString()}/48`
}

/** Masks an IP address, leaving enough for people to recognize their own: `203.0.*.*`, `2001:db8:*`. */
export function maskAddress (address: string) {
  if (!ipaddr.isValid(address)) return UNKNOWN
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv4'
    ? `${parsed.toString().split('.').slice(0, 2).join('.')}.*.*`
    : `${parsed.toNormalizedString().split(':').slice(0, 2).join(':')}:*`
}
