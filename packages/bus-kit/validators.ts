import type Type from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

const compiled = new WeakMap<Type.TSchema, Validator>()

/** The compiled check of a contract's schema, made once. */
export function validatorOf (schema: Type.TSchema): Validator {
  const known = compiled.get(schema)
  if (known) return known
  const made = Compile(schema)
  compiled.set(schema, made)
  return made
}

/** What is wrong with `value`, by the names of its fields: never what they hold, which may be somebody's secret. */
export function describeErrors (schema: Type.TSchema, value: unknown) {
  return validatorOf(schema).Errors(value).map((each) => `${each.instancePath || '/'} ${each.message}`).join(', ')
}
