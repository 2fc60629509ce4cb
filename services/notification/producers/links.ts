/**
 * What a client makes a link of: an address with a scheme, or a domain. Each begins where a word begins: searched for
 * from each letter, a long word would take the square of its length.
 */
const LINK =
  /(?<![\p{L}\p{N}+.-])[\p{L}\p{N}+.-]*:\/\/\S*|(?<![\p{L}\p{N}_-])[\p{L}\p{N}_-]+(?:[.．。｡]\p{L}[\p{L}\p{N}_-]*)+\S*/gu

/** Whether every link in a text leads to `host`, by https. */
export const hasOnlyLinksTo = (host: string, text: string) =>
  (text.match(LINK) ?? []).every((link) => leadsTo(host, link))

function leadsTo (host: string, link: string) {
  const address = link.includes('://') ? link : `https://${link}`
  if (!URL.canParse(address)) return false
  const { protocol, hostname, username, password } = new URL(address)
  return protocol === 'https:' && hostname === host && username === '' && password === ''
}
