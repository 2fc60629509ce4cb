import type { LocalTexts } from '@tandem/brand-kit'
import type { ErrorObject } from 'ajv'

export type SchemaError = Pick<ErrorObject, 'instancePath' | 'keyword' | 'params' | 'message'>

/**
 * Says what was expected of a field. It never repeats the value. The `expectedFormat` of a schema names its text:
 * `validation.formats.<expectedFormat>`.
 */
export function explain ({ keyword, params, message }: SchemaError, field: string, texts: LocalTexts): string {
  const say = (name: string, values = {}) => texts.find(`validation.${name}`, { field, ...values })
  const { limit } = params as { limit?: number }
  const expected = params['expectedFormat'] as string | undefined
  const text = expected ? say(`formats.${expected}`) : sayKeyword()
  return text ?? (message === undefined ? texts.format('validation.invalid', { field }) : `${field} ${message}`)

  function sayKeyword () {
    switch (keyword) {
      case 'opaqueId':
        return say('empty')
      case 'type':
        return say('type', { types: describeTypes([params['type']].flat(), texts) })
      case 'enum':
        return say('enum', { values: params['allowedValues'].join(', ') })
      case 'const':
        return say('const', { value: JSON.stringify(params['allowedValue']) })
      case 'format':
        return say(`formats.${params['format']}`) ?? say('format')
      case 'pattern':
      case 'anyOf':
      case 'oneOf':
        return say('format')
      case 'minLength':
        return limit === 1 ? say('empty') : say('minLength', { limit })
      case 'required':
      case 'maxLength':
      case 'minItems':
      case 'maxItems':
      case 'minimum':
      case 'maximum':
      case 'uniqueItems':
        return say(keyword, { limit })
    }
  }
}

const describeTypes = (types: string[], texts: LocalTexts) =>
  types.map((type) => texts.find(`validation.types.${type}`) ?? type).join(texts.format('validation.or'))
