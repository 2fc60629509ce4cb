import type { FastifyReply } from 'fastify'

/** The client has closed its connection before it got its response. */
export class ClientGone extends Error {
  override name = 'ClientGone'
}

/** Calls `leave` if the client of `reply` is gone before its response is sent. */
export function onClientGone ({ raw }: FastifyReply, leave: () => void) {
  raw.once('close', () => {
    if (!raw.writableFinished) leave()
  })
}
