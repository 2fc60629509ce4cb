/** The fields of a form, as the browser sent them. */
export interface Form {
  /** The trimmed text of a field; empty if it is missing. */
  text(name: string): string
  /** The number in a field. Without one it is NaN, so null in JSON, which services refuse. */
  number(name: string): number
  /** Every value of a field. */
  list(name: string): string[]
  /** Every field, to show or to send it again. */
  fields: [name: string, value: string][]
}

export function readForm (body: unknown): Form {
  const fields = Object.entries(typeof body === 'object' && body !== null ? body : {}).flatMap(([name, value]) =>
    [value as unknown].flat().filter((each) => typeof each === 'string').map((each): [string, string] => [name, each])
  )
  const list = (name: string) => fields.filter(([each]) => each === name).map(([, value]) => value)
  // Browsers send line breaks as CRLF.
  const text = (name: string) => (list(name)[0] ?? '').replaceAll('\r\n', '\n').trim()
  return {
    text,
    number: (name) => Number(text(name) || NaN),
    list,
    fields
  }
}

/** A path of this console, from an untrusted value; otherwise `/`. */
export function localPath (value: unknown) {
  const base = 'https://console.invalid'
  if (typeof value !== 'string' || !value.startsWith('/') || !URL.canParse(value, base)) return '/'
  const { origin, pathname, search } = new URL(value, base)
  // A browser reads a path that begins with two slashes, such as that of `/.//example.org`, as another host.
  return origin === base && !pathname.startsWith('//') ? pathname + search : '/'
}
