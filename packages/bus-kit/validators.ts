import Type from 'typebox'
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

/**
 * What is wrong with an object of which only `values` are known yet, out of the fields `names`; empty when nothing is.
 */
export function describeFieldErrors (schema: Type.TSchema, values: Record<string, unknown>, names: string[]) {
  if (!Type.IsObject(schema)) return ''
  const missing = (schema.required ?? []).filter((name) => !names.includes(name)).map((name) => `/${name} is missing`)
  const invalid = Object.entries(values).flatMap(([name, value]) => {
    const field = schema.properties[name]
    return field && !validatorOf(field).Check(value)
      ? [`/${name} ${validatorOf(field).Errors(value).map((each) => each.message).join(', ')}`]
      : []
  })
  return [...missing, ...invalid].join(', ')
}
