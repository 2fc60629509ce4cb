import type Type from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

const compiled = new WeakMap<Type.TSchema, Validator>()

/** The compiled validator of a contract's schema. It is compiled once. */
export function validatorOf (schema: Type.TSchema): Validator {
  const known = compiled.get(schema)
  if (known) return known
  const validator = Compile(schema)
  compiled.set(schema, validator)
  return validator
}

/**
 * What is wrong with `value`, by the names of its fields. It never includes their values, which may be somebody's
 * secrets.
 */
export function describeErrors (schema: Type.TSchema, value: unknown) {
  return validatorOf(schema).Errors(value).map((each) => `${each.instancePath || '/'} ${each.message}`).join(', ')
}
