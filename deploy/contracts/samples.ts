import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import * as contracts from '@tandem/contracts'
import type { EventDefinition, RpcDefinition } from '@tandem/contracts'

/**
 * Writes a sample of each event and RPC that has none yet. Edit it where another value tells more; once it is published,
 * it never changes. @returns the files it wrote
 */
export function writeMissingSamples (root: string): string[] {
  const parts = Object.values<unknown>(contracts).filter(isDefinition).flatMap((definition) =>
    'data' in definition
      ? [[definition.type, definition.data] as const]
      : [
        [`${definition.type}.request`, definition.request] as const,
        [`${definition.type}.response`, definition.response] as const
      ]
  )
  return parts.flatMap(([name, schema]) => {
    const file = `packages/contracts/samples/${name}.json`
    if (existsSync(path.join(root, file))) return []
    writeFileSync(path.join(root, file), `${JSON.stringify(sampleOf(schema as Schema), undefined, 2)}\n`)
    return [file]
  })
}

const isDefinition = (value: unknown): value is EventDefinition | RpcDefinition =>
  typeof value === 'object' && value !== null && 'service' in value && 'type' in value

/** The parts of a JSON Schema that contracts use. */
export interface Schema {
  type?: string
  format?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  items?: Schema
  minItems?: number
  minimum?: number
}

/** A value that the schema allows, with every optional field. Each id of it is another one. */
export function sampleOf (schema: Schema, ids = { count: 0 }): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  // A nullable value is shown as the value.
  if (schema.anyOf?.[0]) return sampleOf(schema.anyOf[0], ids)
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, property]) => [name, sampleOf(property, ids)])
      )
    case 'array':
      return Array.from({ length: schema.minItems ?? 1 }, () => sampleOf(schema.items ?? {}, ids))
    case 'string':
      return sampleText(schema.format, ids)
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    default:
      return null
  }
}

function sampleText (format: string | undefined, ids: { count: number }) {
  if (format === 'uuid') return `01938c5e-7b1a-7c3d-8e4f-5a6b7c8d9e${(0x10 + ids.count++).toString(16)}`
  if (format === 'date-time') return '2026-01-31T08:00:00.000Z'
  return format === 'date' ? '2026-01-31' : 'text'
}
