import { withArticle } from '@tandem/process-kit'
import type { ErrorObject } from 'ajv'
import type { Language } from './language.ts'

/** What a text must look like, in each language, as the end of a sentence that begins with its field. */
export type ExpectedFormat = Record<Language, string>

export type SchemaError = Pick<ErrorObject, 'instancePath' | 'keyword' | 'params' | 'message'>

const formats: Record<Language, Record<string, string>> = {
  en: {
    uuid: 'must be an id',
    date: 'must be a date such as 2026-01-31',
    'date-time': 'must be a date and time such as 2026-01-31T08:00:00Z',
    'client-url': 'must be an http or https URL',
    uri: 'must be a URL',
    email: 'must be an email address'
  },
  id: {
    uuid: 'harus berupa id',
    date: 'harus berupa tanggal seperti 2026-01-31',
    'date-time': 'harus berupa tanggal dan waktu seperti 2026-01-31T08:00:00Z',
    'client-url': 'harus berupa URL http atau https',
    uri: 'harus berupa URL',
    email: 'harus berupa alamat email'
  }
}

const typesInIndonesian: Record<string, string> = {
  string: 'teks',
  integer: 'bilangan bulat',
  number: 'angka',
  boolean: 'true atau false',
  array: 'daftar',
  object: 'objek',
  null: 'null'
}

/** Says what was expected, as the end of a sentence that begins with the field. It never repeats the value. */
export function explain ({ keyword, params, message }: SchemaError, language: Language): string {
  const expected = params['expectedFormat'] as ExpectedFormat | undefined
  if (expected) return expected[language]
  return language === 'id' ? explainInIndonesian(keyword, params) : explainInEnglish(keyword, params, message)
}

function explainInEnglish (keyword: string, params: SchemaError['params'], message = 'is invalid'): string {
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'opaqueId':
      return 'must not be empty'
    case 'type':
      return `must be ${[params['type']].flat().map(withArticle).join(' or ')}`
    case 'enum':
      return `must be one of ${params['allowedValues'].join(', ')}`
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`
    case 'format':
      return formats.en[params['format']] ?? 'has an invalid format'
    case 'pattern':
    case 'anyOf':
    case 'oneOf':
      return 'has an invalid format'
    case 'minLength':
      return params['limit'] === 1 ? 'must not be empty' : `must have at least ${params['limit']} characters`
    case 'maxLength':
      return `must have at most ${params['limit']} characters`
    case 'minItems':
      return `must have at least ${params['limit']} items`
    case 'maxItems':
      return `must have at most ${params['limit']} items`
    case 'minimum':
      return `must be at least ${params['limit']}`
    case 'maximum':
      return `must be at most ${params['limit']}`
    case 'uniqueItems':
      return 'must not contain duplicate items'
    default:
      return message
  }
}

function explainInIndonesian (keyword: string, params: SchemaError['params']): string {
  switch (keyword) {
    case 'required':
      return 'wajib diisi'
    case 'opaqueId':
      return 'tidak boleh kosong'
    case 'type':
      return `harus berupa ${
        [params['type']].flat().map((type: string) => typesInIndonesian[type] ?? type).join(' atau ')
      }`
    case 'enum':
      return `harus salah satu dari ${params['allowedValues'].join(', ')}`
    case 'const':
      return `harus ${JSON.stringify(params['allowedValue'])}`
    case 'format':
      return formats.id[params['format']] ?? 'formatnya tidak sesuai'
    case 'minLength':
      return params['limit'] === 1 ? 'tidak boleh kosong' : `minimal ${params['limit']} karakter`
    case 'maxLength':
      return `maksimal ${params['limit']} karakter`
    case 'minItems':
      return `minimal ${params['limit']} butir`
    case 'maxItems':
      return `maksimal ${params['limit']} butir`
    case 'minimum':
      return `minimal ${params['limit']}`
    case 'maximum':
      return `maksimal ${params['limit']}`
    case 'uniqueItems':
      return 'tidak boleh berisi butir yang sama'
    default:
      return 'formatnya tidak sesuai'
  }
}
