import { isMember, isPart, parentOf, type Field, type Fields } from './fields.ts'

/**
 * Who is on the other side of a message:
 * - `exact`: services of either version on both sides, which refuse what their own version does not describe. A field
 * stays as it is; new ones are optional.
 * - `request`: clients that go on sending what they do today.
 * - `response`: clients that read it, and pass over fields and values of an enumeration that they do not know, unless
 * one takes the place of another.
 * - `failure`: the same, but that one enumeration holds the codes of all errors.
 * - `delivery`: `before` is what one service sends now, `after` what another one reads, which drops what it does not know.
 */
export type Rule = 'exact' | 'request' | 'response' | 'failure' | 'delivery'

/**
 * What of the change from `before` to `after` is incompatible, as parts of a sentence: `the field "user.name" is gone`.
 * @param olderParse whether messages of before are known to parse, so that a new field may be required
 */
export function compareFields (
  before: Fields,
  after: Fields,
  { rule, olderParse = false }: { rule: Rule, olderParse?: boolean }
): string[] {
  // Which members a union has, the field says that tells them apart.
  const gone = rule === 'delivery' ? [] : Object.keys(before)
    .filter((path) => !after[path] && !isMember(path) && (path === '' || after[parentOf(path)]))
    .map((path) => `the field ${quote(path)} is gone`)
  const added = Object.entries(after).filter(([path, field]) =>
    !before[path] && before[parentOf(path)] && !isPart(path) && !field.optional
  )
    .flatMap(([path]) =>
      rule === 'response' || rule === 'failure' || olderParse ? [] : [`the field ${quote(path)} is new and required`]
    )
  const changed = Object.entries(before).flatMap(([path, field]) => {
    const now = after[path]
    return now ? compareField(quote(path), field, now, rule) : []
  })
  return [...gone, ...added, ...changed]
}

function compareField (name: string, before: Field, after: Field, rule: Rule): string[] {
  const lost = before.types.filter((type) => !includes(after.types, type))
  const gained = after.types.filter((type) => !includes(before.types, type))
  const was = `${name} was ${describe(before)} and is now ${describe(after)}`
  if (rule === 'exact') return describe(before) === describe(after) ? [] : [was]
  if (rule === 'request' || rule === 'delivery') {
    return [
      ...lost.length > 0
        ? [`${name} no longer accepts ${lost.join(' or ')}`]
        : listTighter(before, after).map((limit) => `${name} now accepts ${limit} only`),
      ...before.optional && !after.optional ? [`${name} was optional and is now required`] : []
    ]
  }
  // Clients pass over a value of an enumeration that they do not know.
  const isOpen = before.types.some(isText) && (rule === 'failure' || !lost.some(isText))
  return [
    ...gained.some((type) => !(isOpen && isText(type))) ? [was] : [],
    ...!before.optional && after.optional ? [`${name} may now be missing`] : []
  ]
}

const quote = (path: string) => path === '' ? 'the whole' : `"${path}"`
const isText = (type: string) => type.startsWith('"')

/** Whether each value of `type` is one of `types`. */
function includes (types: string[], type: string): boolean {
  const wider = isText(type) || type.startsWith('string(')
    ? 'string'
    : type === 'integer' || /^-?\d/.test(type)
    ? 'number'
    : /^(true|false)$/.test(type)
    ? 'boolean'
    : type
  return types.includes('any') || types.includes(type) || types.includes(wider) ||
    (/^-?\d+$/.test(type) && types.includes('integer'))
}

function listTighter (before: Field, after: Field): string[] {
  return Object.entries(after.limits ?? {}).filter(([name, now]) => {
    const was = before.limits?.[name]
    if (was === undefined || typeof was !== 'number' || typeof now !== 'number') return was !== now
    if (name === 'multipleOf') return was % now !== 0
    return /^(exclusiveM|m)ax/.test(name) ? now < was : now > was
  }).map(([name, value]) => `${name} ${value}`)
}

function describe ({ types, limits = {}, optional }: Field): string {
  const all = Object.entries(limits).map(([name, value]) => `${name} ${value}`).sort()
  return `${optional ? 'optional ' : ''}${types.join(' | ')}${all.length > 0 ? ` (${all.join(', ')})` : ''}`
}
