import type { OutboxEntry, Stored, Tandem } from '@tandem/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { createContext, createElement, useContext, useEffect, useState, type ReactNode } from 'react'
import { connect, type Connection, type ConnectionOptions } from './connection.ts'

const Context = createContext<{ tandem: Tandem, connection: Connection | undefined } | undefined>(undefined)

export interface TandemProviderProps {
  tandem: Tandem
  /** Where likes, comments, messages and logs wait while the server cannot be reached. Default: memory. */
  outbox?: Stored<OutboxEntry[]>
  /** Called when the API refuses for good what somebody did: say so, and why. Keep it the same from render to render. */
  onRefused?: ConnectionOptions['onRefused']
  children?: ReactNode
}

/** Everything below it belongs to the signed-in account: mount it after the sign-in, inside of a QueryClientProvider. */
export function TandemProvider ({ tandem, outbox, onRefused, children }: TandemProviderProps) {
  const client = useQueryClient()
  const [connection, setConnection] = useState<Connection>()
  useEffect(() => {
    const opened = connect(tandem, client, { storage: outbox, onRefused })
    setConnection(opened)
    return () => opened.close()
  }, [tandem, client, outbox, onRefused])
  return createElement(Context.Provider, { value: { tandem, connection } }, children)
}

/** The client of the API. */
export const useTandem = () => useConnected().tandem

export function useConnected () {
  const connected = useContext(Context)
  if (!connected) throw new Error('Use the hooks below a TandemProvider')
  return connected
}

/** Stores an operation, which is sent when the server can be reached. */
export function useOutbox () {
  const { connection } = useConnected()
  return () => {
    // It opens with the first effect of the provider, before anybody can press a button.
    if (!connection) throw new Error('The outbox is not open yet')
    return connection.outbox
  }
}
