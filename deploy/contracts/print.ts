import { isObject } from './fields.ts'

const WIDTH = 120

/** `value` as JSON with sorted keys; what fits on a line is on one, so that a change shows as few lines. */
export const print = (value: unknown) => `${layOut(sortKeys(value), '', 0)}\n`

function layOut (value: unknown, indent: string, taken: number): string {
  const line =
    JSON.stringify(value, undefined, 1)?.replaceAll(/(?<=\[)\n\s*|\n\s*(?=\])/g, '').replaceAll(/\n\s*/g, ' ') ?? 'null'
  const entries = Array.isArray(value)
    ? value.map((each) => ['', each] as const)
    : isObject(value)
    ? Object.entries(value).map(([key, each]) => [`${JSON.stringify(key)}: `, each] as const)
    : []
  if (entries.length === 0 || (line.length + indent.length + taken <= WIDTH && indent !== '')) return line
  const inner = `${indent}  `
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const lines = entries.map(([key, each]) => `${inner}${key}${layOut(each, inner, key.length + 1)}`)
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

export function sortKeys (value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).filter(([, each]) => each !== undefined).sort(([a], [b]) => a < b ? -1 : 1).map((
      [key, each]
    ) => [key, sortKeys(each)])
  )
}
