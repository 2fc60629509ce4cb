import { clientFrames, serverFrames } from '@tandem/contracts/realtime'

interface Schema {
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  patternProperties?: Record<string, Schema>
}

const PRIMITIVES: Record<string, string> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null'
}

/** A schema as a type of TypeScript. @throws if it uses a keyword that no frame has used so far */
function toType (schema: Schema): string {
  const { type = '', const: constant, enum: values, anyOf, items, properties, required = [], patternProperties } =
    schema
  if (constant !== undefined) return JSON.stringify(constant)
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (anyOf) return anyOf.map(toType).join(' | ')
  if (type === 'array' && items) return `Array<${toType(items)}>`
  if (patternProperties) return `Record<string, ${Object.values(patternProperties).map(toType).join(' | ')}>`
  if (properties) {
    const fields = Object.entries(properties).map(([name, each]) =>
      `${name}${required.includes(name) ? '' : '?'}: ${toType(each)}`
    )
    return fields.length > 0 ? `{ ${fields.join(', ')} }` : 'Record<string, never>'
  }
  const primitive = PRIMITIVES[type]
  if (primitive === undefined) throw new Error(`no type for ${JSON.stringify(schema)}`)
  return primitive
}

const listFrames = (frames: Record<string, { description: string, data: Schema }>) =>
  Object.entries(frames).map(([type, { description, data }]) => `  /** ${description} */\n  '${type}': ${toType(data)}`)
    .join('\n')

/** The data of realtime frames, by type, for the SDK. */
export const describeFrames = () =>
  `/** What the server sends over a realtime connection. */
export interface ServerFrames {
${listFrames(serverFrames)}
}

/** What a client sends. */
export interface ClientFrames {
${listFrames(clientFrames)}
}
`
