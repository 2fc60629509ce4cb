import type { Multipart } from '@fastify/multipart'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { ValidationError } from '@tandem/http-kit'
import { ImportFileTooLarge, NotMultipart } from '../errors.ts'
import { importFormats, type ImportFormat } from '../tables.ts'
import { detectFormat } from './formats/detect.ts'

export const MAX_FILE_BYTES = 25 * 1024 * 1024

const Columns = Compile(
  Type.Record(Type.String(), Type.String({ maxLength: 200 }), { minProperties: 2, maxProperties: 20 })
)

interface Form {
  file: Buffer
  format: ImportFormat
  columns: Record<string, string> | null
}

interface FormRequest {
  isMultipart: () => boolean
  parts: () => AsyncIterable<Multipart>
}

/** Reads the form of an upload: a file and what it is. @throws the errors of uploads, and ValidationError */
export async function readForm (request: FormRequest): Promise<Form> {
  if (!request.isMultipart()) throw new NotMultipart()
  const fields = new Map<string, string>()
  let file: Buffer | undefined
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') fields.set(part.fieldname, String(part.value))
      else if (part.fieldname === 'file') file = await part.toBuffer()
      else part.file.resume()
    }
  } catch (error) {
    throw error instanceof Error && 'code' in error && error.code === 'FST_REQ_FILE_TOO_LARGE'
      ? new ImportFileTooLarge()
      : new ValidationError('malformedForm')
  }
  if (!file || file.length === 0) throw new ValidationError('fileMissing', ['file'], { field: 'file' })
  return { file, format: formatOf(fields.get('type'), file), columns: columnsOf(fields.get('columns')) }
}

function formatOf (type: string | undefined, file: Buffer) {
  if (type === undefined || type === '') return detectFormat(file)
  const format = importFormats.find((each) => each === type.toUpperCase())
  if (format) return format
  throw new ValidationError('importType', ['type'], { names: importFormats.join(', ') })
}

function columnsOf (text: string | undefined) {
  if (text === undefined || text === '') return null
  try {
    const columns: unknown = JSON.parse(text)
    if (Columns.Check(columns)) return columns
  } catch { /* It is no JSON. */ }
  throw new ValidationError('importColumns', ['columns'])
}
