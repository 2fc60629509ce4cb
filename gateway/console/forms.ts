/** The fields of a form, as the browser sent them. */
export interface Form {
  /** The trimmed text of a field; empty if it is missing. */
  text(name: string): string
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
  return {
    // Browsers send line breaks as CRLF.
    text: (name) => (list(name)[0] ?? '').replaceAll('\r\n', '\n').trim(),
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
