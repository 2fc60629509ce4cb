import createError from '@fastify/error'

export type ErrorParams = Record<string, string | number>

/** What http-kit writes the sentence of an error from, in the language of the client. */
export interface Described {
  /** The rest of the key of its text: `errors.<textKey>`. */
  textKey: string
  params: ErrorParams
  /** The fields of the request that it is about. */
  fields: string[]
}

/** An error class of ours. Its message is for logs. */
export type DefinedError<Params> = new(
  ...args: Params extends ErrorParams ? [params: Params, options?: ErrorOptions] : [options?: ErrorOptions]
) => Error & Described & { code: string, statusCode: number }

/**
 * Makes the class of an error. Its key is its code, or its code and a detail where one code has several sentences:
 * `NOT_FOUND.post` is the code NOT_FOUND with the text `errors.NOT_FOUND.post`.
 */
export function defineError<Params extends ErrorParams | undefined = undefined> (
  textKey: string,
  statusCode: number,
  { fields = [] }: { fields?: string[] } = {}
) {
  const [code = ''] = textKey.split('.', 1)
  return class extends createError(code, textKey, statusCode) implements Described {
    readonly textKey = textKey
    readonly params: ErrorParams
    readonly fields = fields

    constructor (params: ErrorParams & ErrorOptions = {}, { cause }: ErrorOptions = params) {
      super(...cause === undefined ? [] : [{ cause }])
      this.params = params
    }
  } as unknown as DefinedError<Params>
}

export const isDefinedError = (error: unknown): error is InstanceType<DefinedError<undefined>> =>
  error instanceof Error && 'textKey' in error

/**
 * Something that the work needs is temporarily unavailable: another service, the file storage, the keys, or capacity.
 * http-kit responds with 503 and Retry-After; a consumer retries the event without counting the attempt.
 */
export const Unavailable = defineError('SERVICE_UNAVAILABLE.unavailable', 503)
