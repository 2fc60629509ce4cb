import ipaddr from 'ipaddr.js'

/** Of which network an address is: its IPv4 /24 or IPv6 /48. */
export function networkOf (address: string) {
  const parsed = ipaddr.process(address)
  const bits = parsed.kind() === 'ipv4' ? 24 : 48
  return `${(parsed.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(`${parsed.toString()}/${bits}`).toString()}/${bits}`
}

/** As much of an address as a person needs to recognise his own: `203.0.*.*`, `2001:db8:*`. */
export function maskAddress (address: string) {
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return `${parsed.toString().split('.').slice(0, 2).join('.')}.*.*`
  return `${parsed.toNormalizedString().split(':').slice(0, 2).join(':')}:*`
}
