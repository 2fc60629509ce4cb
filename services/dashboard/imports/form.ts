import { randomUUID } from 'node:crypto'
import { open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Multipart } from '@fastify/multipart'
import pLimit from 'p-limit'
import { createDiskLimit, isDiskError, Unavailable } from '@tandem/process-kit'
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

const MAX_ON_DISK_BYTES = 32 * MAX_FILE_BYTES
const beginUpload = createDiskLimit()
// Each is in memory until it is in the database.
const limitMemory = pLimit(2)

/**
 * Reads the form of an upload, a file and what it is, and calls `work` with it. The file waits on the disk until it has
 * arrived, however slowly that is. All together take at most as much of it as 32 of the longest files.
 * @throws the errors of uploads, ValidationError, Unavailable, and what `work` throws
 */
export async function withForm<Result> (request: FormRequest, work: (form: Form) => Promise<Result>): Promise<Result> {
  if (!request.isMultipart()) throw new NotMultipart()
  const disk = beginUpload(MAX_ON_DISK_BYTES)
  const file = await openNamelessFile()
  try {
    const fields = await saveForm(request, async (chunks) => await file.writeFile(disk.count(chunks)))
    return await limitMemory(async () => {
      const bytes = await buffer(file.createReadStream({ start: 0 }))
      return await work(readForm(fields, bytes))
    })
  } finally {
    await file.close()
    disk.free()
  }
}

/** It is gone once it is closed, or its process ends. @throws Unavailable */
async function openNamelessFile () {
  const name = path.join(tmpdir(), `tandem-import-${randomUUID()}`)
  try {
    const file = await open(name, 'wx+', 0o600)
    await unlink(name)
    return file
  } catch (error) {
    throw new Unavailable({ cause: error })
  }
}

/** Saves the file of the form with `save`. @returns the other fields */
async function saveForm (request: FormRequest, save: (chunks: AsyncIterable<Buffer>) => Promise<void>) {
  const fields = new Map<string, string>()
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') fields.set(part.fieldname, String(part.value))
      else if (part.fieldname !== 'file') part.file.resume()
      else await save(part.file)
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'FST_REQ_FILE_TOO_LARGE') {
      throw new ImportFileTooLarge()
    }
    throw error instanceof Unavailable || isDiskError(error)
      ? new Unavailable({ cause: error })
      : new ValidationError('malformedForm')
  }
  return fields
}

function readForm (fields: Map<string, string>, file: Buffer): Form {
  if (file.length === 0) throw new ValidationError('fileMissing', ['file'], { field: 'file' })
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
