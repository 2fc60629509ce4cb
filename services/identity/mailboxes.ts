const DOTS_MEAN_NOTHING = ['gmail.com', 'googlemail.com']

/** The mailbox of an address: what stands after a plus sign, and dots at Google, lead to the same one. Pure. */
export function mailboxOf (email: string) {
  const at = email.lastIndexOf('@')
  const [local, domain] = [email.slice(0, at).split('+', 1)[0] ?? '', email.slice(at + 1)]
  return DOTS_MEAN_NOTHING.includes(domain) ? `${local.replaceAll('.', '')}@gmail.com` : `${local}@${domain}`
}
