/** A copy of an OpenAPI document in which each reference is replaced by what it refers to. No schema contains itself. */
export function resolveReferences<Document extends object> (document: Document): Document {
  function resolve (value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve)
    if (typeof value !== 'object' || value === null) return value
    if ('$ref' in value && typeof value.$ref === 'string') return resolve(find(value.$ref))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, resolve(each)]))
  }

  const find = (reference: string) =>
    reference.split('/').slice(1).reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], document)

  return resolve(document) as Document
}
