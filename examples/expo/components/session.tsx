import { useQueryClient } from '@tanstack/react-query'
import { createContext, useContext, useEffect, useState, type ReactNode } from 'react'
import { onSignedOut, useApp } from './api.ts'
import { Loading } from './states.tsx'

interface Session {
  isSignedIn: boolean
  signedIn: () => void
  signOut: () => Promise<void>
}

const Context = createContext<Session | undefined>(undefined)

/** Whether somebody is signed in on this device. */
export function SessionProvider ({ children }: { children: ReactNode }) {
  const { tandem } = useApp()
  const client = useQueryClient()
  const [isSignedIn, setSignedIn] = useState<boolean>()
  useEffect(() => {
    void tandem.isSignedIn().then(setSignedIn)
    return onSignedOut(() => setSignedIn(false))
  }, [tandem])
  // Texts of another language, or of another person.
  useEffect(() => () => client.clear(), [tandem, client])
  if (isSignedIn === undefined) return <Loading />
  const signOut = async () => {
    // Offline, the tokens of this device are removed all the same.
    await tandem.signOut({ body: {} }).catch(async () => await tandem.forget())
    client.clear()
    setSignedIn(false)
  }
  return (
    <Context.Provider value={{ isSignedIn, signedIn: () => setSignedIn(true), signOut }}>{children}</Context.Provider>
  )
}

export function useSession () {
  const session = useContext(Context)
  if (!session) throw new Error('useSession needs a SessionProvider')
  return session
}
