import { resolveReferences } from './references.ts'

interface Parameter {
  in: string
  name: string
  required?: boolean
  schema: { enum?: string[] }
}

interface Document {
  paths: Record<string, { get?: { parameters?: Parameter[] } }>
}

/** A GET of the API: its URLs with every choice of its query, except pages. */
export interface Read {
  path: string
  /** Whether the path names an object, such as a post. */
  hasObject: boolean
  urls: string[]
}

interface App {
  inject: (url: string) => Promise<{ json: () => unknown }>
}

interface Values {
  /** What the start of a path with parameters stands for: `{ '/feed/{id}': '/feed/019a…' }`. */
  objects: Record<string, string>
  /** The value of each parameter of a query that is no enumeration. */
  query: Record<string, string>
}

/**
 * Every GET of a server's OpenAPI document, for tests that request them all.
 * @throws if a path names an object, or a query takes a value, that is not in `objects` or `query`
 */
export async function listReads (app: App, { objects, query }: Values): Promise<Read[]> {
  const { paths } = resolveReferences((await app.inject('/openapi.json')).json() as Document)
  return Object.entries(paths).flatMap(([path, { get }]) => get ? [readOf(path, get.parameters ?? [])] : [])

  function readOf (path: string, parameters: Parameter[]): Read {
    const url = fillIn(path)
    const choices = parameters.filter(({ in: part, name }) => part === 'query' && name !== 'limit' && name !== 'cursor')
      .map((parameter) => ({ ...parameter, queries: queriesOf(path, parameter) }))
    const required = choices.filter((choice) => choice.required).flatMap(({ queries }) => queries.slice(0, 1))
    const optional = choices.filter((choice) => !choice.required).flatMap(({ queries }) => queries)
    const queries = [required, ...optional.map((each) => [...required, each])].map((each) => each.join('&'))
    return {
      path,
      hasObject: path.includes('{'),
      urls: queries.map((each) => each === '' ? url : `${url}?${each}`)
    }
  }

  function fillIn (path: string) {
    const [start, filled] = Object.entries(objects).find(([each]) => `${path}/`.startsWith(`${each}/`)) ?? ['', '']
    const url = path.replace(start, filled)
    if (url.includes('{')) throw new Error(`GET ${path} names an object that this test does not know. Add one for it.`)
    return url
  }

  function queriesOf (path: string, { name, schema }: Parameter) {
    const values = schema.enum ?? [query[name]]
    return values.map((value) => {
      if (value === undefined) {
        throw new Error(`GET ${path} takes "${name}", which this test does not know. Add a value.`)
      }
      return `${name}=${encodeURIComponent(value)}`
    })
  }
}
