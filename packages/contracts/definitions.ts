import type Type from 'typebox'

/** A fact that a service publishes, in the past tense. A changed meaning is a new version beside the old one. */
export interface EventDefinition<Schema extends Type.TSchema = Type.TSchema> {
  /** `<service>.<noun>.<verb>.v<n>` */
  readonly type: string
  readonly service: string
  readonly data: Schema
}

/** A call from one service to another, for data that must be fresh. It never has a side effect. */
export interface RpcDefinition<Request extends Type.TSchema = Type.TSchema,
  Response extends Type.TSchema = Type.TSchema>
{
  /** `<service>.<noun>.v<n>` */
  readonly type: string
  readonly service: string
  readonly request: Request
  readonly response: Response
}

type EventType = `${string}.${string}.${string}.v${number}`
type RpcType = `${string}.${string}.v${number}`

export function defineEvent<Schema extends Type.TSchema> (type: EventType, data: Schema): EventDefinition<Schema> {
  return { type, service: serviceOf(type), data }
}

export function defineRpc<Request extends Type.TSchema, Response extends Type.TSchema> (
  type: RpcType,
  { request, response }: { request: Request, response: Response }
): RpcDefinition<Request, Response> {
  return { type, service: serviceOf(type), request, response }
}

const serviceOf = (type: string) => type.slice(0, type.indexOf('.'))
